// Tells RequireJS where the module "memtrack" is, for nbclassic and Voila.
define(() => {
  'use strict';
  const base = document.body.getAttribute('data-base-url') || '/';
  window.require.config({
    map: { '*': { memtrack: `${base}nbextensions/memtrack/index.js`.replace(/\.js$/, '') } }
  });
  return { load_ipython_extension: () => {} };
});
