// What happened to a record, from the audit log. How it is said is a script of its own.

import { may } from "../session.js";
import { failToLoad } from "./dialogs.js";
import { walked } from "./walked.js";

const loadStory = () => import("../story.js").catch(failToLoad);

// `asked`: {recordId} or {customerId}, whose orders are shown too; `titles`: of variants, by id. Nothing for who may not read it.
export const trail = (visit, asked, titles = {}) =>
  may("STAFF") && readAudit(visit, "Timeline", asked, async (entries) => (await loadStory()).drawStory(entries, titles));

// Each field of an order, as it changed.
export const fieldTrail = (visit, recordId) =>
  readAudit(visit, null, { recordId }, async (entries) => (await loadStory()).drawFields(entries));

const readAudit = (visit, title, asked, draw) =>
  walked(visit, title, {
    path: "admin/audit",
    query: { ...asked, limit: 50 },
    draw,
    none: "Nothing yet. A change appears within half a minute.",
  });
