// JSON Schema for people: an object's members, their types, and a valid example.

const MOST_DEPTH = 4;

function resolved(schema, api) {
  if (schema?.$ref) return resolved(api.components.schemas[schema.$ref.split("/").at(-1)], api);
  if (schema?.allOf?.length === 1)
    return { ...resolved(schema.allOf[0], api), ...schema, allOf: undefined };
  return schema ?? {};
}

// string, integer or null, array of Line, one of A, B
export function typeOf(schema, api) {
  if (schema.$ref) {
    const whole = resolved(schema, api);
    return whole.enum
      ? typeOf(whole, api)
      : schema.$ref.split("/").at(-1).replaceAll("_", " ").trim();
  }
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.map((each) => typeOf(each, api)).join(" or ");
  if (schema.enum) return schema.enum.join(", ");
  if (schema.const !== undefined) return String(schema.const);
  if (schema.type === "array") return `array of ${typeOf(schema.items ?? {}, api)}`;
  return schema.format ? `${schema.type} (${schema.format})` : (schema.type ?? "anything");
}

// The members of an object, or of the objects of an array.
export function named(schema, api) {
  const whole = resolved(schema, api);
  if (whole.type === "array") return named(whole.items ?? {}, api);
  return Object.entries(whole.properties ?? {}).map(([name, each]) => ({
    name,
    type: typeOf(each, api),
    required: whole.required?.includes(name),
    about: each.description ?? resolved(each, api).description,
  }));
}

// An example with the required members and self-explanatory values.
export function example(schema, api, depth = 0) {
  const whole = resolved(schema, api);
  if (whole.examples) return whole.examples[0];
  if (whole.default !== undefined && whole.default !== null) return whole.default;
  if (whole.enum) return whole.enum[0];
  const choices = whole.anyOf ?? whole.oneOf;
  if (choices)
    return example(choices.find((each) => each.type !== "null") ?? choices[0], api, depth);
  if (whole.type === "array")
    return depth > MOST_DEPTH ? [] : [example(whole.items ?? {}, api, depth + 1)];
  if (whole.type === "object" || whole.properties) {
    const all = Object.entries(whole.properties ?? {});
    const must = all.filter(([name]) => whole.required?.includes(name));
    const some = must.length ? must : all.slice(0, 1);
    return Object.fromEntries(
      some.map(([name, each]) => [name, depth > MOST_DEPTH ? null : example(each, api, depth + 1)]),
    );
  }
  return (
    { integer: 1, number: 1, boolean: true }[whole.type] ??
    (whole.format === "date-time" ? "2026-11-20T06:12:14Z" : "…")
  );
}
