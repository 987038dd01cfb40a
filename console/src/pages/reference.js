// The API reference, from its description; each call with a shell command.

import { address } from "../api.js";
import { h, replace } from "../dom.js";
import { copyButton } from "../parts/copy.js";
import { field } from "../parts/form.js";
import { announce } from "../parts/notice.js";
import { empty } from "../parts/page.js";
import { example, named, typeOf } from "../parts/schema.js";
import { table } from "../parts/table.js";

const BASE = address("").replace(/\/api\/$/, "");

export async function show(visit) {
  const { query } = visit;
  const { data: api } = await visit.get("openapi.json");
  const operations = Object.entries(api.paths).flatMap(([at, methods]) =>
    Object.entries(methods).map(([method, each]) => ({
      at,
      method: method.toUpperCase(),
      ...each,
    })),
  );
  const into = h.div({ class: "stack" });
  const search = field({
    name: "search",
    label: "Search",
    type: "search",
    placeholder: "orders, POST, webhook…",
    value: query.search ?? "",
    autocomplete: "off",
    oninput: ({ target }) => {
      visit.rewrite({ search: target.value });
      fill(target.value);
    },
  });
  visit.draw(
    { title: "API reference" },
    h.div(
      { class: "stack" },
      h.p(api.info.description.replaceAll("`", "")),
      h.p(
        "Base URL ",
        h.code(BASE),
        " · ",
        h.a({ href: address("openapi.json") }, "OpenAPI description"),
      ),
      h.div({ class: "filters" }, search),
      into,
    ),
  );
  fill(query.search ?? "");

  function fill(text) {
    const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = operations.filter((each) => {
      const words = `${each.method} ${each.at} ${each.summary} ${each.tags}`.toLowerCase();
      return wanted.every((word) => words.includes(word));
    });
    const tags = [...new Set(fits.map(({ tags }) => tags[0]))];
    replace(
      into,
      tags.length
        ? tags.map((tag) =>
            h.section(
              { class: "stack tight" },
              h.h2(tag),
              fits.filter(({ tags }) => tags[0] === tag).map((each) => drawn(visit, each, api)),
            ),
          )
        : empty("No operations match", "Try a word from the path."),
    );
    announce(`${fits.length} operations.`);
  }
}

function drawn(visit, operation, api) {
  const body = Object.values(operation.requestBody?.content ?? {})[0]?.schema;
  const media = Object.keys(operation.requestBody?.content ?? {})[0];
  const node = h.details(
    { class: "attempt" },
    h.summary(
      h.code({ class: `method ${operation.method.toLowerCase()}` }, operation.method),
      h.code(operation.at),
      h.span({ class: "soft" }, operation.summary),
      operation["x-role"] && h.span({ class: "badge" }, operation["x-role"]),
    ),
  );
  // Calls are drawn when they are opened: there are a hundred.
  node.ontoggle = () =>
    node.children.length === 1 && node.append(h.div({ class: "stack tight" }, parts()));
  return node;

  function parts() {
    return [
      operation.description && h.p(operation.description.replaceAll("`", "")),
      copied(visit, "Example", line(operation, media, body, api)),
      fields(
        "Parameters",
        (operation.parameters ?? []).map((each) => ({
          name: each.name,
          type: `${typeOf(each.schema, api)} in ${each.in}`,
          required: each.required,
          about: each.description,
        })),
      ),
      body && fields("Request body", named(body, api)),
      given(visit, "Example request", operation.requestBody),
      answers(operation, api),
      given(visit, "Example response", success(operation)),
      refused(visit, operation, api),
    ];
  }
}

function success({ responses }) {
  // Where a dry run answers 200, what was created is the one to show.
  return responses[201] ?? Object.entries(responses).find(([status]) => status.startsWith("2"))?.[1];
}

// The request or answer of an example in the description, if there is one.
function given(visit, title, message) {
  const example = Object.values(message?.content ?? {})[0]?.example;
  if (example === undefined) return null;
  return copied(visit, title, typeof example === "string" ? example : JSON.stringify(example, null, 2));
}

// One error of each status: the operation's own, if there is one.
function refused(visit, { method, at, responses }, api) {
  const lines = Object.entries(responses).flatMap(([status, response]) => {
    const { content } = response.$ref ? whole(response, api) : {};
    const all = Object.values(Object.values(content ?? {})[0]?.examples ?? {});
    const one = all.find(({ summary }) => summary === `${method} ${at}`) ?? all[0];
    return one ? [`${status} ${JSON.stringify(one.value)}`] : [];
  });
  return lines.length > 0 && copied(visit, "Example errors", lines.join("\n"));
}

function copied(visit, title, text) {
  return [
    h.h3(title),
    h.div(
      { class: "copied" },
      h.pre({ tabindex: "0", role: "region", "aria-label": title }, text),
      copyButton(visit, text),
    ),
  ];
}

const whole = ({ $ref }, api) => api.components.responses[$ref.split("/").at(-1)];

function fields(title, rows) {
  if (rows.length === 0) return null;
  return [
    h.h3(title),
    table({
      name: title,
      columns: [
        {
          title: "Name",
          cell: ({ name, required }) => [
            h.code(name),
            required && h.span({ class: "soft small" }, " required"),
          ],
        },
        { title: "Type", cell: ({ type }) => type },
        { title: "", cell: ({ about }) => about ?? "" },
      ],
      rows,
    }),
  ];
}

function answers(operation, api) {
  const rows = Object.entries(operation.responses).map(([status, response]) => {
    const { content, description } = response.$ref ? whole(response, api) : response;
    const schema = Object.values(content ?? {})[0]?.schema;
    return {
      name: status,
      type: schema ? typeOf(schema, api) : "nothing",
      about: description.replaceAll("`", ""),
    };
  });
  const schema = Object.values(success(operation)?.content ?? {})[0]?.schema;
  return [fields("Responses", rows), schema && fields("Response body", named(schema, api))];
}

function line({ method, at, security, parameters, requestBody }, media, body, api) {
  const needed = (parameters ?? [])
    .filter((each) => each.in === "query" && each.required)
    .map(({ name }) => `${name}=…`);
  const parts = [
    `curl ${method === "GET" ? "" : `-X ${method} `}'${BASE}${at}${needed.length ? `?${needed.join("&")}` : ""}'`,
  ];
  if (security.length) parts.push('-H "Authorization: Bearer $BACKROOM_KEY"');
  if (media === "multipart/form-data") parts.push("-F file=@products.csv");
  else if (body)
    parts.push(
      "-H 'Content-Type: application/json'",
      `-d '${JSON.stringify(requestBody.content[media].example ?? example(body, api)).replaceAll("'", "'\\''")}'`,
    );
  return parts.join(" \\\n  ");
}
