// Requests to the server. A mistake becomes an Error with the server's own words.

async function request(method, path, body, isRaw = false) {
  const options = { method, headers: {} };
  if (body !== undefined) {
    options.body = isRaw ? body : JSON.stringify(body);
    options.headers["content-type"] = isRaw ? "application/octet-stream" : "application/json";
  }
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Error("The server does not answer.");
  }
  const data = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(data.error ?? `The server answers with ${answer.status}.`);
  return data;
}

export const get = (path) => request("GET", path);
export const post = (path, body = {}) => request("POST", path, body);
export const upload = (path, file) => request("POST", path, file, true);
export const remove = (path) => request("DELETE", path);

let catalogue = null;

/** The games, agents and runs of the server; asked for again with `fresh`. */
export async function getCatalogue(fresh = false) {
  if (catalogue === null || fresh) catalogue = await get("/api/catalogue");
  return catalogue;
}
