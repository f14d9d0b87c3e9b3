// `node codegen.mjs BROWSER PROGRAM SAMPLE PICTURES`: the page of `codegen backend`, with an executor in a copy of a project.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { argv, env, exit } from "node:process";
import { createInterface } from "node:readline";
import puppeteer from "puppeteer-core";
import { open } from "./page.mjs";

const [executablePath, program, sample, pictures] = argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "codegen-page-"));
const root = join(folder, "shop");
cpSync(sample, root, { recursive: true });
const token = join(folder, "executor.token");
const step = (name) => console.log(`  ${name}`);
// Without a provider, conversations are recorded ones.
const bare = Object.fromEntries(Object.entries(env).filter(([name]) => !/^(OPENAI|ANTHROPIC|GEMINI|GOOGLE_GEMINI)_/.test(name)));

const chosen = join(folder, "service.token");
writeFileSync(chosen, "chosen-for_the.page~");
const backend = spawn(program, ["backend", "--confirm", "run_shell", "--token-file", token, "--store", join(folder, "store.redb"), "--service-token-file", chosen], { stdio: ["ignore", "pipe", "inherit"], env: bare });
const said = {};
for await (const line of createInterface({ input: backend.stdout })) {
  const [word, rest] = line.split(/ +/);
  said[word] = rest;
  if (word === "token") break;
}
const dialIn = () => spawn(program, ["executor", "--connect", said.executor, "--token-file", token, "--root", root], { stdio: "ignore", env: bare });

const visit = async (browser) => {
  const it = await open(browser, said.page, { width: 1440, height: 1000 }, "#runs");
  const { page, text, until, fine } = it;
  const picture = async (name) => {
    if (!pictures) return;
    await page.evaluate(() => {
      document.activeElement.blur();
      window.scrollTo(0, 0);
    });
    await page.screenshot({ path: `${pictures}/${name}.png` });
  };
  const begin = async (task) => {
    await page.type("#task", task);
    await page.click("#begin button");
    await until("#run h2", new RegExp(`^${task}$`));
  };

  step("a run waits for an executor, and is cancelled");
  await begin("wait for me");
  await until("#run .state", /queued/);
  await until("#executor", /no executor yet/);

  step("a seventh tab opens");
  const tabs = [];
  for (let number = 2; number <= 7; number += 1) {
    const tab = await browser.newPage();
    tabs.push(tab);
    await tab.goto(said.page);
    await tab.waitForSelector("#run .state", { timeout: 10000 }).catch(() => assert.fail(`tab ${number} shows nothing`));
  }
  for (const tab of tabs) await tab.close();
  await page.bringToFront();
  await it.press("Cancel", "#run");
  await until("#run .state", /cancelled/);

  step("an executor brings its contracts");
  let executor = dialIn();
  try {
    await until("#executor", /an executor with 9 tools/);
    executor.kill("SIGKILL");
    await until("#executor", /the executor is not connected/);
    executor = dialIn();
    await until("#executor", /an executor with 9 tools/);
    await until("#contracts", /read_file.*write_file/);

    step("a task is done, with its calls and violations");
    await begin("create an endpoint");

    step("a call waits for a person, who approves");
    await until("#run .state", /waiting for approval/);
    await until(".approval", /Run run_shell\?.*cargo.*--offline/s);
    await it.inView(".approval");
    await page.setViewport({ width: 1400, height: 1000 });
    const heights = await page.$$eval(".approval button", (all) => all.map((one) => one.getBoundingClientRect().height));
    assert.ok(heights.every((height) => height < 40), `a button is broken into lines: ${heights}`);
    const cut = await page.$$eval("#run .log > li", (all) => all.filter((one) => parseFloat(getComputedStyle(one, "::before").left) < 0).length);
    assert.equal(cut, 0, "dots are cut");
    const subjects = await page.$$eval("#run .log .subject", (all) => all.map((one) => one.textContent));
    for (const subject of ["src/routes.rs", "cargo test --offline"]) assert.ok(subjects.includes(subject), `no call shows ${subject}: ${subjects}`);
    assert.doesNotMatch(await text("#contracts"), /\{(path|\}|:)/);
    await it.press("Approve", "#run");
    await until("#run .state", /completed/);
    await it.keepsFocus();
    await until("#run .log", /never travelled/);
    await until('[data-clause="read_file.pre[4]"]', /found by the backend/);
    await until('[data-clause="write_file.pre[3]"]', /found by the executor/);
    await until('#contracts [data-id="read_file.pre[4]"]', /broken 1×/);
    await until("#run .log [data-kind=answer]", /GET \/health.*answers/);
    await until("#run .log [data-kind=diff]", /\+ +\("GET", "\/health"\)/);
    assert.match(readFileSync(join(root, "src/routes.rs"), "utf8"), /"\/health"/);
    await picture("codegen-run");
    await page.$eval("#run .log details", (details) => {
      details.open = true;
    });
    assert.ok((await text("#run .log details pre")).length > 0);

    step("another is denied, and the model reads why");
    await begin("create an endpoint");
    await until("#run .state", /waiting for approval/);
    await (await it.named("Reason to deny")).type("not on this machine");
    await it.press("Deny", "#run");
    await until("#run .state", /completed/);
    await until("#run .log", /denied: not on this machine/);
    assert.equal((await page.$$(".approval")).length, 0);

    step("an interview is answered");
    await begin("add a price list");
    await until("#run .state", /waiting for answers/);
    await until(".interview", /Which form should it have/);
    await it.press("Answer", "#run");
    await until(".interview .problem", /one of/);
    const label = async (words) => {
      for (const one of await page.$$(".interview label")) {
        if ((await one.evaluate((element) => element.textContent.trim())) === words) return one.click();
      }
      return assert.fail(`no choice ${words}`);
    };
    await label("JSON");
    await label("name");
    await label("price in cents");
    await page.type(".interview input[type=text]", "/prices");
    await picture("codegen-questions");
    await it.press("Answer", "#run");
    await until("#run .state", /waiting for approval/);
    await it.press("Approve", "#run");
    await until("#run .state", /completed/);
    await until("#run .log", /GET \/prices.*gives/);

    step("a task that nobody has recorded fails, and says what to do");
    await begin("<img src=x onerror=window.harmed=1>");
    await until("#run .log [data-kind=error]", /set OPENAI_API_KEY/);
    assert.equal(await page.evaluate(() => window.harmed), undefined);
    assert.equal((await page.$$("main img")).length, 0);

    step("is used without a mouse");
    const link = await page.$("#runs li:nth-child(3) a");
    await page.focus("#task");
    await page.keyboard.type("by keyboard");
    await it.chord();
    await until("#run h2", /^by keyboard$/);
    await page.waitForFunction(() => document.activeElement.tagName === "H2");
    await until("#runs li:first-child", /failed/);
    assert.ok(await link.evaluate((old) => old.isConnected), "another run began and ended, and the link was replaced");
    await link.focus();
    const nameless = await page.$$eval("input, textarea, select, button", (all) => all.filter((one) =>
      !one.labels?.length && !one.getAttribute("aria-label") && !one.textContent.trim()).map((one) => one.outerHTML));
    assert.deepEqual(nameless, []);
    assert.equal((await page.$$("#runs a")).length, 6);
    await page.keyboard.press("Enter");
    await until("#run h2", /^create an endpoint$/);
    await until("#run .state", /completed/);
  } finally {
    executor.kill();
  }
  step("is read in the dark, and on a narrow window");
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
  assert.notEqual(await ground(), light);
  for (const width of [320, 640, 1000]) {
    await page.setViewport({ width, height: 700 });
    const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(over <= 0, `at ${width} pixels, the page is ${over} too wide`);
  }
  await page.emulateMediaFeatures([]);
  await page.setViewport({ width: 1440, height: 1000 });

  step("shows progress, and a log of 5,000 lines");
  const long = await browser.newPage();
  const wrong = [];
  long.on("pageerror", (error) => wrong.push(error));
  await long.setRequestInterception(true);
  const frame = (event, at) => `id: ${at + 1}\nevent: ${event.type}\ndata: ${JSON.stringify({ sequence: at + 1, at_ms: 0, ...event })}\n\n`;
  const call = (number) => ({ type: "tool_call", call_id: `call_${number}`, tool: "read_file", arguments: `{"path":"${number}"}` });
  const lines = [{ type: "state", state: "running" }, ...Array.from({ length: 5000 }, (_, number) => call(number)),
    { type: "tool_progress", call_id: "call_4999", done: 1, total: 4, message: "opening" },
    { type: "tool_progress", call_id: "call_4999", done: 3, total: 4, message: "reading" },
    { type: "state", state: "completed" }];
  long.on("request", (request) => /\/events/.test(request.url())
    ? request.respond({ status: 200, contentType: "text/event-stream", body: lines.map(frame).join("") })
    : request.continue());
  await long.goto(said.page);
  const begun = Date.now();
  await long.waitForFunction(() => document.querySelectorAll("#run .log > li").length === 5002, { timeout: 30000 });
  console.log(`    5,000 lines stand after ${Date.now() - begun} ms`);
  const last = await long.$$eval("#run .log .progress", (all) => all.at(-1).textContent);
  assert.match(last, /3 of 4 reading/);
  const typed = Date.now();
  await long.type("#task", "typed beside it");
  assert.equal(await long.$eval("#task", (task) => task.value), "typed beside it");
  console.log(`    15 letters are typed beside them in ${Date.now() - typed} ms`);
  assert.ok(Date.now() - typed < 15000, "nobody could type beside it");
  assert.deepEqual(wrong, []);
  await long.close();

  step("opens at nothing without its token");
  const stranger = await browser.newPage();
  const answer = await stranger.goto(said.page.replace(/token=.*/, "token=guess"));
  assert.equal(answer.status(), 401);
  await stranger.close();
  // The one refusal is that of the empty answers.
  const refused = it.wrong.splice(0).filter((one) => !/400/.test(one));
  it.wrong.push(...refused);
  fine();
  await page.close();
};

const args = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"];
const browser = await puppeteer.launch({ executablePath, args, protocolTimeout: 30000 });
let failed = false;
try {
  await visit(browser);
} catch (error) {
  failed = true;
  console.error(error);
  if (env.INSPECT_FAILED) await (await browser.pages()).at(-1).screenshot({ path: env.INSPECT_FAILED });
} finally {
  backend.kill();
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
exit(failed ? 1 : 0);
