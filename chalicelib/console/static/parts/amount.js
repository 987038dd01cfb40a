// Amounts as people type them.

import { CURRENCY } from "../facts.js";

const HAS_COMMA = new Intl.NumberFormat().format(1.5).includes(",");
const DECIMALS = new Intl.NumberFormat("en", { style: "currency", currency: CURRENCY }).resolvedOptions()
  .maximumFractionDigits;
const HAS_DOTS = new Intl.NumberFormat().format(1e6).includes(".") && DECIMALS < 3;

// An amount as people type it, for the API: 12,50 and 1.234,50 and 10 %. Other text is sent unchanged,
// and refused there. A comma before three digits is a decimal one only where the language has it; a dot before three
// digits groups thousands where the language has that, unless amounts have three decimals.
export function decimal(text) {
  const plain = text.trim().replace(/\s*%$/, "");
  if (HAS_DOTS && /^[+-]?[1-9]\d{0,2}(\.\d{3})+$/.test(plain)) return plain.replaceAll(".", "");
  const [, whole, part] = /^([+-]?[\d.\s]*\d),(\d+)$/.exec(plain) ?? [];
  if (part === undefined || (part.length === 3 && !HAS_COMMA)) return plain;
  return `${whole.replaceAll(/[.\s]/g, "")}.${part}`;
}
