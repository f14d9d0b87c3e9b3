// What a person does on the page of `inspect`, in a real browser. Fails on any message in the console, any error of the
// page and any request that fails.
import assert from "node:assert/strict";

/** Opens the page, waits for a part of it, and keeps an account of everything that goes wrong there. */
export const open = async (browser, url, size = { width: 1440, height: 1000 }, part = "#tool h2") => {
  const page = await browser.newPage();
  const wrong = [];
  await page.setViewport(size);
  page.on("console", (message) => wrong.push(`console: ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("requestfailed", (request) => {
    // A check that newer typing has overtaken, a call that was cancelled, the stream of a page that goes.
    const broken = request.failure()?.errorText === "net::ERR_ABORTED" && /\/api\/(check|call|events|runs\/[^/]+\/events)$/.test(new URL(request.url()).pathname);
    if (!broken) wrong.push(`request: ${request.url()}: ${request.failure()?.errorText}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 400) wrong.push(`response: ${response.status()} ${response.url()}`);
  });
  page.on("request", (request) => {
    const { protocol, host } = new URL(request.url());
    if (!["blob:", "data:"].includes(protocol) && host !== new URL(url).host) wrong.push(`elsewhere: ${request.url()}`);
  });
  await page.goto(url);
  await page.waitForSelector(part);

  const text = (selector) => page.$eval(selector, (element) => element.textContent);
  const until = async (selector, wanted) => {
    const found = (selector, source) => {
      const text = document.querySelector(selector)?.textContent ?? "";
      return new RegExp(source, "s").test(text);
    };
    try {
      await page.waitForFunction(found, { timeout: 20000, polling: 50 }, selector, wanted.source);
    } catch {
      const there = await page.$eval(selector, (element) => element.textContent).catch(() => "(not there)");
      assert.fail(`${selector} never said ${wanted}; it says: ${there.slice(0, 500)}`);
    }
  };
  const clause = (id, state) => page.waitForFunction(
    (id, state) => document.querySelector(`[data-id="${id}"] [data-state]`)?.dataset.state === state,
    { timeout: 20000, polling: 50 }, id, state,
  ).catch(async () => assert.fail(`${id} is not ${state}: ${await text(`[data-id="${id}"]`)}`));
  const tool = async (name) => {
    await page.click(`nav a[href="#${encodeURIComponent(name)}"]`);
    await until("#tool h2", new RegExp(`^${name}$`));
  };
  // The control that a label names, as a screen reader finds it.
  const named = (name) => page.waitForSelector(`aria/${name}`);
  const type = async (name, value) => {
    const control = await named(name);
    await control.evaluate((element) => {
      element.value = "";
    });
    await control.type(value);
  };
  const choose = async (name, value) => {
    const control = await named(name);
    await control.select(value);
  };
  const press = async (label, within = "#tool") => {
    const buttons = await page.$$(`${within} button`);
    for (const button of buttons) {
      if ((await button.evaluate((element) => element.textContent)) === label) return button.click();
    }
    return assert.fail(`no button ${label}`);
  };
  const json = async (value) => {
    await page.$eval(".json textarea", (area, text) => {
      area.value = text;
      area.dispatchEvent(new Event("input", { bubbles: true }));
    }, value);
  };
  const sent = () => page.$eval(".json textarea", (area) => area.value);
  // Whether a part of the page is inside the window.
  const inView = (selector) => page.waitForFunction((selector) => {
    const { top, bottom } = document.querySelector(selector).getBoundingClientRect();
    return top < innerHeight && bottom > 0 && (bottom <= innerHeight + 1 || top <= 1);
  }, { timeout: 5000, polling: 50 }, selector).catch(() => assert.fail(`${selector} is out of view`));
  // A control that is removed or disabled leaves the focus to the body.
  const keepsFocus = async () => assert.notEqual(await page.evaluate(() => document.activeElement.tagName), "BODY");
  const chord = async () => {
    await page.keyboard.down("Control");
    await page.keyboard.press("Enter");
    await page.keyboard.up("Control");
  };
  const fine = () => assert.deepEqual(wrong, []);
  // Two pictures for the guide, light and dark.
  const picture = async (folder, name) => {
    if (!folder) return;
    await page.evaluate(() => document.activeElement.blur());
    for (const [value, end] of [["light", ""], ["dark", "-dark"]]) {
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value }]);
      await page.screenshot({ path: `${folder}/${name}${end}.png` });
    }
    await page.emulateMediaFeatures([]);
  };
  return { picture, inView, keepsFocus, chord, page, wrong, text, until, clause, tool, type, choose, press, json, sent, named, fine };
};
