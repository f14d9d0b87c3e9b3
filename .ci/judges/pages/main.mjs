// `node main.mjs BROWSER FIXTURE QUICKSTART PICTURES`: the second and the third are programs whose command `inspect` serves
// the page; the last is the folder for the pictures of the guide, or empty.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { argv, env, exit } from "node:process";
import puppeteer from "puppeteer-core";
import { fixture } from "./fixture.mjs";
import { quickstart } from "./quickstart.mjs";

const [executablePath, first, second, pictures] = argv.slice(2);
const visits = [[first, fixture], [second, quickstart]];

const served = async (program) => {
  const child = spawn(program, ["inspect", "--port", "0"], { stdio: ["ignore", "pipe", "ignore"] });
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith("http://127.0.0.1:")) return { child, url: line };
  }
  throw new Error(`${program} inspect printed no address`);
};

// The sandbox of the browser needs a kernel that lets it, and a user that is not root; the pages are our own.
const args = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"];
const browser = await puppeteer.launch({ executablePath, args, protocolTimeout: 30000 });
let failed = false;
for (const [program, visit] of visits) {
  const { child, url } = await served(program);
  console.log(program);
  try {
    await visit(browser, url, pictures);
  } catch (error) {
    failed = true;
    console.error(error);
    // A picture of where it stopped, for whoever looks for the reason.
    if (env.INSPECT_FAILED) {
      const page = (await browser.pages()).at(-1);
      await page.screenshot({ path: env.INSPECT_FAILED });
    }
  } finally {
    child.kill();
  }
}
await browser.close();
exit(failed ? 1 : 0);
