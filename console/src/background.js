// What goes on when the page that began it is left: jobs of the API, their outcome, and their undo.
// It requests and waits as a visit does.

import { call, sleep } from "./api.js";
import { toast } from "./parts/notice.js";

export const background = {
  get: (path, query) => call("GET", path, { query }),
  sleep,
  async send(method, path, { success, ...request } = {}) {
    const answer = await call(method, path, request);
    if (success) toast(success);
    return answer;
  },
};
