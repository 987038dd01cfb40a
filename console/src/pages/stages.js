// The stages of the workshop: work begins in the first, and is done in the last.

import { button, h } from "../dom.js";
import { field, form, values, wrong } from "../parts/form.js";
import { icon } from "../parts/icon.js";
import { card } from "../parts/page.js";
import { saveSettings } from "../parts/settings.js";
import { link } from "../router.js";

const PATH = "admin/settings/production";

export async function show(visit) {
  const { data, etag } = await visit.get(PATH);
  const rows = h.div({ class: "rows whole", "data-field": "stages" });
  const error = h.p({ class: "error" });
  rows.append(error);
  data.stages.forEach((stage) => append(stage));
  const node = form({
    fields: [
      rows,
      h.p({ class: "hint whole" }, "Work begins in the first stage, and is done in the last."),
    ],
    extra: button("Add a stage", () => append({ id: null, name: "" }, lines().at(-1)).querySelector("input").focus(), { class: "add" }),
    submit: "Save",
    save,
  });
  visit.guard("stages", () => JSON.stringify(read()) !== JSON.stringify(data.stages), "Your changes to the stages have not been saved.");
  visit.draw({ title: "Stages of production", back: [link("/production"), "Production"] }, card(null, node));

  function lines() {
    return [...rows.querySelectorAll(".stage")];
  }

  // A new stage comes before the last, in which work is done.
  function append({ id, name }, before = error) {
    const up = button("↑", () => (line.previousElementSibling?.before(line), rename(), up.focus()), { class: "quiet" });
    const remove = button(icon("remove"), () => (line.remove(), rename(), (lines()[0] ?? node).querySelector("input")?.focus()), { class: "quiet" });
    const line = h.div({ class: "stage", "data-id": id }, field({ name: "name", value: name, maxlength: "40" }), up, remove);
    before.before(line);
    rename();
    return line;
  }

  function rename() {
    lines().forEach((line, at) => {
      const [up, remove] = line.querySelectorAll("button");
      line.querySelector(".field").dataset.field = `stages.${at}.name`;
      line.querySelector("label").textContent = `Stage ${at + 1}`;
      up.setAttribute("aria-label", `Move stage ${at + 1} up`);
      remove.setAttribute("aria-label", `Remove stage ${at + 1}`);
    });
  }

  function read() {
    return lines().map((line) => ({ ...(line.dataset.id && { id: line.dataset.id }), name: values(line).name.trim() }));
  }

  async function save() {
    try {
      await saveSettings(visit, PATH, { name: "stages", list: read(), etag });
    } catch (refusal) {
      const its = data.stages.find(({ id }) => id === refusal.body?.stage);
      if (refusal.code === "stage_in_use") throw wrong("stages", `${its?.name}: ${refusal.body.count} to be made are still there. Move them first.`);
      throw refusal;
    }
    await show(visit);
  }
}
