// Background jobs: watched until they end, and undone.

import { background } from "../background.js";
import { ENDED_JOBS, UNDO_DAYS, UNDOABLE } from "../facts.js";
import { plural, words } from "../format.js";
import { toast } from "./notice.js";

const FIRST_PAUSE = 500; // milliseconds between looks; each is a fifth longer, up to 3 s
const LONGEST_PAUSE = 3000;
const MOST_MISSED = 5; // reads in a row without an answer, while the job continues
// Of the others, their type says it.
const NAMES = {
  product_import: "Import",
  customer_merge: "Merge of customers",
  customer_erasure: "Erasure of a customer",
  reindex: "Reindexing",
};

export const hasEnded = ({ status }) => ENDED_JOBS.includes(status);
export const jobName = ({ type, fileName }) => fileName || NAMES[type] || words(type);
const isKept = ({ createdAt }) => Date.now() - Date.parse(createdAt) < UNDO_DAYS * 86_400_000;
export const canUndo = (job) =>
  hasEnded(job) && !job.dryRun && UNDOABLE.includes(job.type) && counted(job) > 0 && isKept(job);
const counted = ({ created, updated, deleted }) => created + updated + (deleted ?? 0);

// A job that completed with failed records is not shown as a full success.
export const outcome = ({ status, failed, withErrors = failed }) => {
  if (status === "NEEDS_MAPPING") return [status, "Needs your input"];
  return status === "COMPLETED" && withErrors > 0
    ? ["PARTLY", `Completed with ${plural(withErrors, "error")}`]
    : [status];
};

// Resolves to the job when it has ended, or asks; `seen(job)` gets each look. `visit`: the page that
// shows it, or `background`.
export async function watch(visit, id, seen = () => {}) {
  let missed = 0;
  for (let pause = FIRST_PAUSE; ; pause = Math.min(pause * 1.2, LONGEST_PAUSE)) {
    try {
      const { data: job } = await visit.get(`admin/jobs/${encodeURIComponent(id)}`);
      missed = 0;
      seen(job);
      if (hasEnded(job) || job.status === "NEEDS_MAPPING") return job;
    } catch (error) {
      const isUnanswered = error.status === 0 || error.status >= 500;
      if (!isUnanswered || ++missed > MOST_MISSED) throw error;
    }
    await visit.sleep(pause);
  }
}

// Resolves to the job when it has done what it was for.
export async function completed(visit, id, seen) {
  const job = await watch(visit, id, seen);
  if (job.status !== "COMPLETED") throw new Error(job.error?.message ?? "The job did not finish.");
  return job;
}

// Undoes a job, also when the page is left, and says so. Resolves to the undo's job.
export async function undo(id) {
  const { data } = await background.send("POST", `admin/jobs/${encodeURIComponent(id)}/undo`, {
    idempotencyKey: `undo-${id}-${Date.now()}`,
    success: "Undoing…",
  });
  const job = await watch(background, data.jobId);
  const back = counted(job);
  const undone = back > 0 ? `Undone: ${plural(back, "record")}.` : "Nothing was undone.";
  toast(job.failed > 0 ? `${undone} ${job.failed} left unchanged.` : undone, job.failed > 0 ? "bad" : "");
  return job;
}

// After a question. Resolves to the undo's job, or to null.
export async function takeBack(visit, job) {
  const yes = await visit.ask({
    title: `Undo ${jobName(job)}?`,
    text: "Values that nobody changed since are restored. Products that it created are deleted, unless they were changed or sold since.",
    yes: "Undo",
    bad: true,
  });
  return yes ? undo(job.id) : null;
}
