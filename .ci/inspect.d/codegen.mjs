// `node codegen.mjs BROWSER PROGRAM SAMPLE PICTURES`: the page of `codegen backend`, with an executor in a copy of a project.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
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

const backend = spawn(program, ["backend", "--token-file", token, "--store", join(folder, "store.redb")], { stdio: ["ignore", "pipe", "inherit"], env: bare });
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
  await it.press("Cancel", "#run");
  await until("#run .state", /cancelled/);

  step("an executor brings its contracts");
  const executor = dialIn();
  try {
    await until("#executor", /an executor with 8 tools/);
    await until("#contracts", /read_file.*write_file/);

    step("a task is done, with its calls and violations");
    await begin("create an endpoint");
    await until("#run .state", /completed/);
    await until("#run .log", /never travelled/);
    await until('[data-clause="read_file.pre[4]"]', /found by the backend/);
    await until('[data-clause="write_file.pre[3]"]', /found by the executor/);
    await until('#contracts [data-id="read_file.pre[4]"]', /broken 1×/);
    await until("#run .log [data-kind=answer]", /GET \/health.*answers/);
    assert.match(readFileSync(join(root, "src/routes.rs"), "utf8"), /"\/health"/);
    await picture("codegen-run");
    await page.$eval("#run .log details", (details) => {
      details.open = true;
    });
    assert.ok((await text("#run .log details pre")).length > 0);

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
    await until("#run .state", /completed/);
    await until("#run .log", /GET \/prices.*gives/);

    step("a task that nobody has recorded fails, and says what to do");
    await begin("<img src=x onerror=window.harmed=1>");
    await until("#run .log [data-kind=error]", /set OPENAI_API_KEY/);
    assert.equal(await page.evaluate(() => window.harmed), undefined);
    assert.equal((await page.$$("main img")).length, 0);

    step("is used without a mouse");
    await page.focus("#task");
    await page.keyboard.type("by keyboard");
    await page.keyboard.down("Control");
    await page.keyboard.press("Enter");
    await page.keyboard.up("Control");
    await until("#run h2", /^by keyboard$/);
    const nameless = await page.$$eval("input, textarea, select, button", (all) => all.filter((one) =>
      !one.labels?.length && !one.getAttribute("aria-label") && !one.textContent.trim()).map((one) => one.outerHTML));
    assert.deepEqual(nameless, []);
    assert.equal((await page.$$("#runs a")).length, 5);
    await page.click("#runs li:nth-child(4) a");
    await until("#run h2", /^create an endpoint$/);
    await until("#run .state", /completed/);
  } finally {
    executor.kill();
  }
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
