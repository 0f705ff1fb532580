// versions.js CACHE PACKAGE...: prints the versions of the packages, and of node, on one line.
const { resolve } = require('node:path');
const { readFileSync } = require('node:fs');

const [cache, ...names] = process.argv.slice(2);
const versionOf = (name) =>
  JSON.parse(readFileSync(resolve(cache, 'node_modules', name, 'package.json'))).version;
const lines = names.map((name) => `${name} ${versionOf(name)}`);
console.log([...lines, `node ${process.versions.node}`].join(', '));
