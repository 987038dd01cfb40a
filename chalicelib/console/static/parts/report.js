// Reports: jobs that add up a period. One that was asked for lately is shown again.

import { newKey } from "../dom.js";
import { completed } from "./jobs.js";

const LOOKED = 50; // at the newest jobs
const RECENT = 3_600_000; // milliseconds in which a report is shown again

// The job of the same question that was asked lately, also if it has not ended.
async function known(visit, asked, signal) {
  const { data } = await visit.get("admin/jobs", { limit: LOOKED }, signal);
  const isSame = (about) => Object.entries(asked).every(([name, value]) => about[name] === value);
  const isRecent = ({ createdAt }) => Date.now() - Date.parse(createdAt) < RECENT;
  const isGone = ({ status }) => ["FAILED", "CANCELLED"].includes(status);
  return data.data.find((job) => job.type === "report" && isSame(job.about) && isRecent(job) && !isGone(job))?.id;
}

// Resolves to the job that has answered. `isNew`: it is added up again. It changes nothing in the shop: it is given up
// when `signal` aborts.
export async function reportOf(visit, asked, signal, isNew = false) {
  const request = { body: asked, idempotencyKey: newKey(), signal };
  const ask = async () => (await visit.send("POST", "admin/reports", request)).data.jobId;
  const id = (!isNew && (await known(visit, asked, signal))) || (await ask());
  signal.throwIfAborted();
  const get = (path) => visit.get(path, {}, signal);
  return completed({ get, sleep: (pause) => visit.sleep(pause, signal) }, id);
}
