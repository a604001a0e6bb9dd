// Shows /openapi.json: every route with its parameters and the fields of its body.

import { get } from "./api.js";
import { html } from "./svg.js";
import "./theme.js";

const place = document.getElementById("routes");

function kind(schema) {
  if (schema.anyOf) return schema.anyOf.map(kind).join(" or ");
  if (schema.type === "array") return `list of ${kind(schema.items ?? {})}`;
  return schema.type ?? "any";
}

function fields(schema) {
  const required = new Set(schema.required ?? []);
  const rows = Object.entries(schema.properties ?? {}).map(([name, field]) =>
    html("tr", {}, html("th", { scope: "row" }, html("code", {}, name)), html("td", {}, kind(field)), html("td", {}, required.has(name) ? "required" : field.default === undefined ? "optional" : `default ${JSON.stringify(field.default)}`), html("td", {}, field.description ?? "")),
  );
  return html("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Fields" }, html("table", { class: "fields-table" }, html("thead", {}, html("tr", {}, ...["Field", "Type", "", "Meaning"].map((name) => html("th", { scope: "col" }, name)))), html("tbody", {}, ...rows)));
}

function route(method, path, operation, schemas) {
  const body = operation.requestBody?.content["application/json"]?.schema;
  const schema = body?.$ref ? schemas[body.$ref.split("/").at(-1)] : body;
  const parameters = (operation.parameters ?? []).map((each) => `${each.name} (${each.in})`);
  return html(
    "section",
    { class: "panel" },
    html("h2", {}, html("code", {}, `${method.toUpperCase()} ${path}`)),
    html("p", {}, operation.description ?? ""),
    parameters.length ? html("p", { class: "muted" }, `Parameters: ${parameters.join(", ")}`) : null,
    schema ? fields(schema) : null,
  );
}

try {
  const description = await get("/openapi.json");
  for (const [path, methods] of Object.entries(description.paths)) {
    for (const [method, operation] of Object.entries(methods)) place.append(route(method, path, operation, description.components.schemas));
  }
} catch (error) {
  place.append(html("p", { class: "panel warning" }, error.message));
}
