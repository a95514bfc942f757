// The search asks for each page that it has found, to show where its words stand. Browsers answer no such request of a
// page that was opened as a file, so that there TEXTS answers, which docs/extensions/excerpts.py has written.
if (location.protocol === "file:") {
  window.fetch = async (address) => {
    const page = address.replace(/^\.\//, "").replace(/\.html$/, "");
    const main = document.createElement("main");
    main.setAttribute("role", "main");
    main.textContent = TEXTS[page];
    return new Response(main.outerHTML);
  };
}
