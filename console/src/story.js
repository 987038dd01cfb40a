// The script that says what the entries of the audit log are about.

export { drawFields, drawStory } from "./parts/audit-story.js";
