// Makes the console's files, in chalicelib/console/static, from those in src (`make console`).
//
// A browser on a slow line waits for each file, and each may start a function. So the modules become a few scripts:
//
//   start    what every page needs, and Home
//   common   what several of the following need
//   lists, production, records, reports, stock, rest, search    each with its pages, loaded when one of them is opened
//   dialogs  loaded when one of them is opened
//   uploads  loaded with a product's page, for the files of an order, and at an import's upload
//   story    loaded when a timeline of the audit log is drawn
//
// esbuild makes a chunk of the modules that the same scripts need. Every script but the first imports the start and
// the common part, so there are these two chunks and no others.

import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const HERE = dirname(fileURLToPath(import.meta.url));
const SRC = join(HERE, "src");
const TARGET = join(HERE, "../chalicelib/console/static");
const START = "app.js";
const SCRIPTS = ["dialogs.js", "lists.js", "production.js", "records.js", "reports.js", "rest.js", "search.js", "stock.js", "story.js", "uploads.js"];
const OPTIONS = {
  absWorkingDir: SRC,
  bundle: true,
  charset: "utf8",
  chunkNames: "chunk-[hash]",
  external: ["./early.js"], // a file of its own, which needs no other and runs first
  format: "esm",
  legalComments: "none",
  loader: { ".svg": "dataurl" },
  logLevel: "warning",
  metafile: true,
  minify: true,
  outdir: TARGET,
  sourcemap: true, // the maps are not committed (.gitignore)
  splitting: true,
  target: "esnext",
  write: false,
};

// The modules that a module imports, and those that they import.
function reachedFrom(module, inputs, reached = new Set()) {
  if (reached.has(module)) return reached;
  reached.add(module);
  for (const { path, kind, external } of inputs[module].imports)
    if (kind === "import-statement" && !external) reachedFrom(path, inputs, reached);
  return reached;
}

async function findCommonModules() {
  const { metafile } = await build({ ...OPTIONS, entryPoints: [START, ...SCRIPTS] });
  const start = reachedFrom(START, metafile.inputs);
  const users = new Map();
  for (const script of SCRIPTS)
    for (const module of reachedFrom(script, metafile.inputs))
      if (!start.has(module)) users.set(module, (users.get(module) ?? 0) + 1);
  return [...users].filter(([, count]) => count > 1).map(([module]) => module);
}

// Each script imports what is loaded before it, at its end: the lines of its source map stay.
function importBefore(modules) {
  const imports = modules.map((module) => `import "./${module}";`).join("");
  return {
    name: "import-before",
    setup({ onLoad }) {
      onLoad({ filter: new RegExp(`/src/(${SCRIPTS.join("|")})$`) }, ({ path }) => ({
        contents: readFileSync(path, "utf8") + imports,
      }));
    },
  };
}

function nameOfChunk(outputs, module) {
  const found = Object.entries(outputs).find(([, { inputs }]) => module in inputs);
  return basename(found[0]);
}

// The SHA-256 of files, given as pairs of a name and a content.
function digest(files) {
  const all = createHash("sha256");
  for (const [name, contents] of [...files].sort(([one], [other]) => (one < other ? -1 : 1)))
    all.update(`${name} ${createHash("sha256").update(contents).digest("hex")}\n`);
  return all.digest("hex");
}

function listSources() {
  const kept = readdirSync(SRC, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(HERE, join(parentPath, name)));
  return ["build.mjs", "package-lock.json", ...kept];
}

async function main() {
  const common = await findCommonModules();
  const scripts = await build({
    ...OPTIONS,
    entryPoints: [START, ...SCRIPTS, "console.css"],
    plugins: [importBefore([START, ...common])],
  });
  const { outputs } = scripts.metafile;
  const start = nameOfChunk(outputs, START);
  const shared = nameOfChunk(outputs, common[0]);
  const early = await build({
    ...OPTIONS,
    entryPoints: ["early.js"],
    external: [],
    define: { COMMON: JSON.stringify(shared) },
  });
  const files = new Map();
  for (const { path, contents } of [...scripts.outputFiles, ...early.outputFiles])
    if (!basename(path).startsWith(START)) files.set(basename(path), contents);
  const icon = readFileSync(join(SRC, "icon.svg"), "utf8").trim();
  const page = readFileSync(join(SRC, "index.html"), "utf8")
    .replace("ICON", `data:image/svg+xml,${icon.replace(/[<>#%"]/g, encodeURIComponent)}`)
    .replace("START", start);
  files.set("index.html", Buffer.from(page));

  rmSync(TARGET, { recursive: true, force: true });
  mkdirSync(TARGET, { recursive: true });
  for (const [name, contents] of files) writeFileSync(join(TARGET, name), contents);
  // `tests/console` compares these: whether the files are made of these sources, and are as they were made.
  const made = [...files].filter(([name]) => !name.endsWith(".map"));
  const sources = listSources().map((name) => [name, readFileSync(join(HERE, name))]);
  const digests = { sources: digest(sources), files: digest(made) };
  writeFileSync(join(TARGET, "digests.json"), `${JSON.stringify(digests, null, 2)}\n`);
}

await main();
