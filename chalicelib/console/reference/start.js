// The reference of the API, by Swagger UI: each operation can be tried with the key that is signed in to the console.

// Markup may be set (texts of the description), scripts and their addresses not; the policy of the page allows no inline ones.
window.trustedTypes?.createPolicy("default", { createHTML: (html) => html });

document.addEventListener("DOMContentLoaded", () => {
  const key = sessionStorage.getItem("backroom-key"); // as console/src/early.js
  const ui = window.SwaggerUIBundle({
    url: new URL("../api/openapi.json", document.baseURI).href,
    domNode: document.querySelector("#reference"),
    deepLinking: true,
    docExpansion: "list",
    filter: true,
    showExtensions: true,
    tryItOutEnabled: true,
    validatorUrl: null,
    onComplete: () => key && ui.preauthorizeApiKey("key", key),
  });
});
