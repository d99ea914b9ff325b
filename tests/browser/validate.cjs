// Validates pages: a line in is a page as a JSON string, a line out is the JSON list of what is wrong with it.
"use strict";
const readline = require("node:readline");
const {HtmlValidate, StaticConfigLoader} = require("html-validate");

const validator = new HtmlValidate(new StaticConfigLoader({
  root: true,
  extends: ["html-validate:standard", "html-validate:a11y"],
  rules: {
    // What follows is matters of taste. The button of a form sends it.
    "no-implicit-button-type": "off",
    // Voice control of some browsers needs the name of the field, also within its label.
    "no-redundant-for": "off",
    // A list may have a name, and a region that scrolls may be any element.
    "aria-label-misuse": ["error", {allowAnyNamable: true}],
    "prefer-native-element": ["error", {exclude: ["region"]}],
  },
}));

readline.createInterface({input: process.stdin}).on("line", async (line) => {
  const report = await validator.validateString(JSON.parse(line));
  const faults = report.results.flatMap((result) => result.messages.map(
    (found) => `${found.line}:${found.column} ${found.ruleId}: ${found.message}`));
  process.stdout.write(JSON.stringify(faults) + "\n");
});
