// Dialogs that most visits do not open, and uploads, are scripts of their own, loaded when they are wanted.

let loaded = null;

// At once, if they are there: a key that is pressed next is the dialog's.
export const withDialogs = (act) => (loaded ? act(loaded) : loadDialogs().then(act));

// As soon as the page is touched by a pointer or by the focus.
export function preloadDialogs(visit) {
  for (const type of ["pointerover", "focusin"])
    visit.listen(visit.root, type, () => loadDialogs().catch(() => {}), { once: true });
}

const loadDialogs = async () => (loaded = await import("../dialogs.js").catch(failToLoad));

export const loadUploads = () => import("../uploads.js").catch(failToLoad);

export function failToLoad() {
  throw new Error("A part of the console could not be loaded. Check the connection and try again.");
}
