// Evaluates each case of `.ci/nightly.d/cel.sh` with @bufbuild/cel, to which every number of JSON is a double.
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { argv, exit } from "node:process";
import { celEnv, isCelError, parse, plan } from "@bufbuild/cel";

const environment = celEnv();
const programs = new Map();
const program = (rule) => {
  if (!programs.has(rule)) programs.set(rule, plan(environment, parse(rule)));
  return programs.get(rule);
};
const evaluate = ({ rule, arguments: text }) => {
  try {
    const answer = program(rule)({ args: JSON.parse(text) });
    return isCelError(answer) ? undefined : answer;
  } catch {
    return undefined;
  }
};

const decided = new Map();
const counts = { agree: 0, weaker: 0, undecided: 0, wrong: 0 };
for await (const line of createInterface({ input: createReadStream(argv[2]) })) {
  const one = JSON.parse(line);
  const answer = evaluate(one);
  const [yes, all] = decided.get(one.rule) ?? [0, 0];
  decided.set(one.rule, [yes + (answer !== undefined), all + 1]);
  if (answer === undefined) counts.undecided += 1;
  else if (answer === one.accepts) counts.agree += 1;
  else if (answer === true && !one.whole) counts.weaker += 1;
  else if ((counts.wrong += 1) <= 10) console.log(answer, one);
}
console.log(`${programs.size} rules:`, counts);
const mute = [...decided].filter(([, [yes, all]]) => yes * 10 < all * 9);
for (const [rule, shares] of mute) console.log("seldom decided:", rule, shares);
exit(counts.wrong > 0 || mute.length > 0 ? 1 : 0);
