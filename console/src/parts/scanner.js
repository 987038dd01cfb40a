// A scanner types faster than people and ends with Enter. If another field has the focus, the scan is
// removed from that field and handled as a scan.

const FASTEST_HAND = 60; // milliseconds a key, on average
const LONGEST_GAP = 150; // between two keys of one scan
const SHORTEST_CODE = 4;
const TYPED = "input, textarea, select";

// `scanned(code)` gets each scan anywhere in the page except in the field for which `own(target)` is true.
export function listenForScans(visit, own, scanned) {
  let run = { text: "" }; // the keys so far, their field, its text before, and the start time

  visit.listen(
    document,
    "keydown",
    (event) => {
      const { key, target, timeStamp } = event;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      // In a dialog too: its focused button must not be pressed by the end of a code.
      // (An API key may be typed as fast, by a program.)
      if (own(target) || ["search", "password"].includes(target.type)) run = { text: "" };
      else if (key.length === 1) {
        if (!isField(run.field, target) || timeStamp - run.last > LONGEST_GAP)
          run = { text: "", before: target.value, first: timeStamp };
        run.field = target;
        run.text += key;
        run.last = timeStamp;
        // In the middle of a code they open no search and press no button.
        if (run.text.length > 1 && "/ ".includes(key) && !target.matches(TYPED)) {
          event.preventDefault();
          event.stopPropagation();
        }
      } else if (key === "Enter" && isScan(run, event)) {
        event.preventDefault();
        event.stopPropagation();
        // A select takes keys too: they choose the option that begins with them. And a field that was drawn again in the
        // middle of the code has given its part of it as a change, which this one takes back.
        if (target.matches(TYPED)) {
          target.value = run.before;
          for (const type of ["input", "change"]) target.dispatchEvent(new Event(type, { bubbles: true }));
        }
        scanned(run.text.trim());
        run = { text: "" };
      }
    },
    { capture: true },
  );
}

// A field that is drawn again is another element; one that is gone leaves the focus to the page.
const isField = (field, target) =>
  field === target ||
  (field && !field.isConnected && (!target.matches(TYPED) || (field.name && field.name === target.name)));

const isScan = ({ text, field, first, last }, { target, timeStamp }) =>
  isField(field, target) &&
  text.length >= SHORTEST_CODE &&
  timeStamp - last < LONGEST_GAP &&
  last - first < FASTEST_HAND * (text.length - 1);
