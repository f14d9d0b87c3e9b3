// Evaluates each line of standard input, `{rule, arguments}`, as the page does, and prints one word for each.
import { readFileSync } from "node:fs";
import { argv, stdin, stdout } from "node:process";
import { createInterface } from "node:readline";

const sources = argv.slice(2).map((path) => readFileSync(path, "utf8"));
const { json, rules } = new Function(`'use strict';\n${sources.join("\n")}\nreturn { json, rules };`)();

const out = [];
for await (const line of createInterface({ input: stdin })) {
  const one = json.read(line);
  const answer = rules.judge(one.get("rule"), json.read(one.get("arguments")));
  out.push(answer === undefined ? "undecided" : String(answer));
}
stdout.write(out.join("\n") + "\n");
