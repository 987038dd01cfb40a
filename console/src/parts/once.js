// One key for each body: a retry after a lost answer is the same request, also after another body.

import { newKey } from "../dom.js";

export function once() {
  const keys = new Map();
  return (body) => {
    const text = JSON.stringify(body);
    if (!keys.has(text)) keys.set(text, newKey());
    return keys.get(text);
  };
}
