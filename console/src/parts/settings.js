// How a list of the shop's settings is saved.

// `name`: of the list, and of what guards it. What somebody else changed since it was read with `etag` is not written over.
export async function saveSettings(visit, path, { name, list, etag }) {
  try {
    await visit.send("PUT", path, { body: { [name]: list }, ifMatch: etag, success: "Saved." });
  } catch (refusal) {
    if (refusal.status === 412) throw new Error(`Somebody else has changed the ${name} meanwhile. Reload the page to see them.`);
    throw refusal;
  }
  visit.saved(name);
}
