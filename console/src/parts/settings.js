// How a list of the shop's settings is saved.

// `name`: of the list in the request, and of the unsaved changes that end with the save. A list that somebody else changed
// since it was read with `etag` is not overwritten.
export async function saveSettings(visit, path, { name, list, etag }) {
  try {
    await visit.send("PUT", path, { body: { [name]: list }, ifMatch: etag, success: "Saved." });
  } catch (refusal) {
    if (refusal.status === 412) throw new Error(`Somebody else has changed the ${name} meanwhile. Reload the page to see them.`);
    throw refusal;
  }
  visit.saved(name);
}
