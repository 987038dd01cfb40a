// Times as people enter them: in the shop's time zone.

import { TIMEZONE } from "../facts.js";

const CLOCK = new Intl.DateTimeFormat("sv-SE", {
  timeZone: TIMEZONE,
  dateStyle: "short",
  timeStyle: "medium",
});

// Converts a datetime-local value, a time in the shop's zone, to a moment and back.
export const local = (time) => CLOCK.format(time).replace(" ", "T").slice(0, 16);
// The day that many days ago, in the shop's zone: 2026-11-22.
export function daysAgo(days) {
  const day = new Date(CLOCK.format(Date.now()).slice(0, 10)); // of the calendar: one of the shop may have 23 hours
  day.setUTCDate(day.getUTCDate() - days);
  return day.toISOString().slice(0, 10);
}

// Text that is no time, such as one of the year 12026, is sent unchanged, and refused there.
export function momentOf(typed) {
  const wanted = Date.parse(`${typed}Z`);
  if (isNaN(wanted)) return typed;
  const shift = (time) => Date.parse(`${CLOCK.format(time).replace(" ", "T")}Z`) - time;
  const near = wanted - shift(wanted);
  return new Date(wanted - shift(near)).toISOString();
}
