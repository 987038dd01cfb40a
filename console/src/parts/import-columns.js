// The columns of an import's file: what each is read as, and a form if the file is not recognised.

import { h, replace } from "../dom.js";
import { called, plural, whole } from "../format.js";
import { FIELDS, FORMATS } from "../facts.js";
import { field, form, values } from "./form.js";
import { card } from "./page.js";
import { table } from "./table.js";

// In the order in which they are likely; `tests/console` holds them against the source.
export const ENCODINGS = {
  "utf-8": "UTF-8",
  cp1252: "Western European (Windows-1252)",
  cp1250: "Central European (Windows-1250)",
  iso8859_2: "Central European (ISO 8859-2)",
  cp1251: "Cyrillic (Windows-1251)",
  koi8_r: "Cyrillic (KOI8-R)",
  mac_cyrillic: "Cyrillic (Mac)",
  cp1253: "Greek (Windows-1253)",
  cp1254: "Turkish (Windows-1254)",
  mac_roman: "Western European (Mac Roman)",
  gb18030: "Simplified Chinese (GBK)",
  big5: "Traditional Chinese (Big5)",
  cp932: "Japanese (Shift-JIS)",
  euc_jp: "Japanese (EUC-JP)",
  euc_kr: "Korean (EUC-KR)",
  "utf-16-le": "UTF-16",
  "utf-16-be": "UTF-16, big-endian",
};
export const DELIMITERS = { ",": "Comma", ";": "Semicolon", "\t": "Tab", "|": "Pipe" };
// Of fields whose name does not say enough.
const LABELS = {
  slug: "URL slug (handle)",
  barcode: "Barcode (EAN, UPC)",
  cost: "Cost (what a piece costs the shop)",
  imageUrl: "Image URLs",
  imageAlt: "Image alt text",
  category: "Categories",
  option1: "Option 1",
  option2: "Option 2",
  option3: "Option 3",
  variantSku: "Variant SKU",
  parentSku: "SKU of the variant's product",
  seoTitle: "Page title",
  seoDescription: "Meta description",
};

export const formatName = (dialect) => FORMATS[dialect] ?? dialect ?? "Not recognized yet";

const fieldName = (name) => LABELS[name] ?? called(name);

const samplesOf = ({ samples }) =>
  h.span({ class: "cut" }, samples.length ? samples.map((each) => h.div(h.bdi(each))) : "empty");

// How the file was read, once it is decided.
export function columnTable(columns) {
  return h.details(
    { class: "attempt" },
    h.summary(`Columns (${columns.length})`),
    sampled(columns, "Imported as", ({ field: name }) =>
      name ? fieldName(name) : h.span({ class: "soft" }, "not imported"),
    ),
  );
}

// The columns with what is in them, which a Reader does not see. `cell(column)`: of a last one, with that title.
const sampled = (rows, title, cell) =>
  table({
    name: "Columns",
    columns: [
      { title: "Column", cell: ({ column }) => h.b(h.bdi(column)) },
      rows.some(({ samples }) => samples.length) && { title: "Samples", cell: samplesOf },
      { title, cell },
    ].filter(Boolean),
    rows,
  });

// `answered(job, isRead)` gets the job that continues, perhaps reading its file again.
export function mappingForm(visit, job, path, answered) {
  const answer = async (body, isRead) =>
    answered((await visit.send("POST", `${path}/mapping`, { body })).data, isRead);
  const foresee = async (body) =>
    (await visit.send("POST", `${path}/mapping/preview`, { body })).data;
  return job.encodings.length > 0
    ? encodingForm(job, answer)
    : [columnsForm(job, answer, foresee), againForm(job, answer)];
}

// The words of the file in each encoding, so that the user can choose.
function encodingForm(job, answer) {
  const node = form({
    fields: field({
      name: "encoding",
      label: "Words of the file",
      wide: true,
      options: job.encodings.map(({ encoding, samples }) => [
        encoding,
        `${samples.slice(0, 3).join(", ")} – ${ENCODINGS[encoding] ?? encoding}`,
      ]),
    }),
    submit: "Use this encoding",
    save: () => answer({ encoding: values(node).encoding }),
  });
  return card(
    "Choose the encoding",
    h.p(
      { class: "soft" },
      "Several encodings fit this file. Choose the one whose words are right. Nothing has been imported yet.",
    ),
    node,
  );
}

// For a file whose words or columns look wrong.
function againForm(job, answer) {
  const node = form({
    fields: [
      field({ name: "encoding", options: Object.entries(ENCODINGS), value: job.encoding }),
      field({ name: "delimiter", options: Object.entries(DELIMITERS), value: job.delimiter }),
      field({
        name: "headerRow",
        label: "Header",
        value: job.headerRow,
        inputmode: "numeric",
        hint: "The line of the column names; 0 if there is none.",
      }),
    ],
    submit: "Read again",
    save() {
      const { headerRow, ...others } = values(node);
      return answer({ ...others, headerRow: whole(headerRow.trim()) }, true);
    },
  });
  return card("Are letters or columns wrong?", node);
}

function columnsForm(job, answer, foresee) {
  const others = Object.entries(FORMATS).filter(([name]) => name !== "mapped");
  const format = field({
    name: "format",
    options: [["", "Match each column"], ...others],
    value: job.dialect === "mapped" ? "" : (job.dialect ?? ""),
    oninput: () => (draw(), show()),
  });
  const chosen = () => format.querySelector("select").value;
  const into = h.div({ class: "whole", "data-field": "columns", onchange: show });
  const shown = h.div({ class: "whole", role: "status" });
  const proposed = new Map(job.columns.map(({ column, field: is }) => [column, is]));
  const picked = new Map(proposed); // kept while another format is looked at
  let fields = []; // that a column can be
  let asked = 0;
  draw();
  show();
  const node = form({
    fields: [
      format,
      into,
      field({
        name: "saveAs",
        label: "Save these columns as",
        placeholder: "Such as the supplier's name",
        hint: "Optional. They are proposed again for files with the same columns.",
      }),
    ],
    submit: job.dryRun ? "Continue to the preview" : "Import",
    extra: shown,
    async save() {
      const { saveAs } = values(node);
      await answer({ ...said(), ...(saveAs.trim() && { saveAs: saveAs.trim() }) });
    },
  });

  // Each column of the recognized format can be changed; another format is used unchanged.
  function draw() {
    const name = chosen();
    fields = name === (job.dialect ?? "") ? job.fields : FIELDS;
    const error = h.p({ class: "error" });
    if (name && name !== job.dialect) {
      const message = `All columns are read as in this format: ${FORMATS[name]}.`;
      return replace(into, h.p({ class: "hint" }, message), error);
    }
    const options = [["", "Do not import"], ...fields.map((each) => [each, fieldName(each)])];
    return replace(
      into,
      sampled(job.columns, "Import as", ({ column }) =>
        h.div(
          { class: "field", "data-field": `columns.${column}` },
          h.select(
            {
              name: "column",
              "aria-label": `Import ${column} as`,
              oninput: ({ target }) => picked.set(column, target.value || null),
            },
            options.map(([value, text]) =>
              h.option({ value, selected: value === (picked.get(column) ?? "") }, text),
            ),
          ),
          h.p({ class: "error" }),
        ),
      ),
      error,
    );
  }

  // What comes of the columns as they are. What is wrong with them is said when they are sent.
  async function show() {
    const number = ++asked;
    const found = await foresee(said()).catch(() => null);
    if (number === asked) replace(shown, found && foreseen(found));
  }

  function said() {
    const name = chosen();
    const all = [...picked].map(([column, is]) => [column, fields.includes(is) ? is : null]);
    if (!name) return { columns: Object.fromEntries(all) };
    const news = name === job.dialect ? all.filter(([column, is]) => is !== proposed.get(column)) : [];
    return { format: name, ...(news.length > 0 && { columns: Object.fromEntries(news) }) };
  }

  return card(
    job.dialect ? FORMATS[job.dialect] : "Match the columns",
    h.p({ class: "soft" }, `${reason(job)} Nothing has been imported yet.`),
    node,
  );
}

function foreseen({ rows, isWhole, products, variants, failed, question, warnings, first }) {
  const of = isWhole ? plural(rows, "row") : `The first ${plural(rows, "row")}`;
  const bad = failed ? ` With errors in their rows: ${plural(failed, "product")}.` : "";
  const notes = [question, ...warnings].filter(Boolean);
  return [
    h.p(`${of} become ${plural(products, "product")} with ${plural(variants, "variant")}.${bad}`),
    notes.length > 0 && h.div({ class: "notice warn" }, notes.map((note) => h.p(note))),
    table({
      name: "Result",
      columns: [
        { title: "Product", cell: ({ name, sku, row }) => h.bdi(name ?? sku ?? `Row ${row}`) },
        { title: "Variants", cell: (each) => each.variants.map((one) => h.div(variantLine(one))) },
        { title: "Errors", cell: ({ errors }) => errors.map((error) => h.div(error)) },
      ],
      rows: first,
    }),
  ];
}

function variantLine({ title, sku, price, stock }) {
  const parts = [title, sku, price, stock === null ? null : `${stock} in stock`];
  return h.bdi(parts.filter(Boolean).join(" · ") || "–");
}

function reason({ dialect, savedMapping }) {
  if (dialect) return "Check how the file is read, and correct it if needed.";
  return savedMapping
    ? `The columns saved as ${savedMapping} are proposed.`
    : "Backroom does not recognize this file's format. Check what each column is.";
}
