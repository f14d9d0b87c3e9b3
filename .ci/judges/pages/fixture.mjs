// The page with the tools of contract-runtime/examples/inspect.rs: every kind of form, and those that mean harm.
import assert from "node:assert/strict";
import { open } from "./page.mjs";

const step = (name) => console.log(`  ${name}`);

export const fixture = async (browser, url, pictures) => {
  const it = await open(browser, url);
  const { page, text, until, clause, tool, type, choose, press, json, sent, fine } = it;

  step("lists and searches");
  assert.equal(await text("#count"), "13 tools");
  await page.keyboard.press("/");
  await page.keyboard.type("refund");
  await until("#count", /^1 tool$/);
  await page.keyboard.press("Enter");
  await until("#tool h2", /^refund$/);
  await page.$eval("#search", (input) => {
    input.value = "";
    input.dispatchEvent(new Event("input"));
  });

  step("says nothing is wrong before anything is typed");
  await tool("book_room");
  await clause("book_room.pre[0]", "open");
  assert.equal(await text('[data-id="book_room.pre[0]"] q'), "the end (end) must come after the start (start)");
  await until(".legend", /exact.*all of it.*described/);
  await until(".outcome", /^What comes of a call/);
  await until("#no-calls:not([hidden])", /as they happen/);
  const problems = () => page.$$eval("#tool .problem", (all) => all.map((one) => one.textContent).filter(Boolean));
  // Longer than the pause before a check.
  await new Promise((next) => setTimeout(next, 600));
  assert.deepEqual(await problems(), []);

  step("judges clauses while one types");
  await press("use \"2.07\"");
  await type("start *", "600");
  await type("end *", "540");
  await clause("book_room.pre[0]", "broken");
  await clause("book_room.pre[1]", "holds");
  await type("end *", "660");
  await clause("book_room.pre[0]", "holds");
  await clause("book_room.pre[3]", "holds");
  await type("room *", "1.03");
  await clause("book_room.pre[3]", "broken");
  await type("room *", "2.07");
  await clause("book_room.pre[3]", "holds");
  await type("guests", "13");
  await clause("book_room.pre[2]", "broken");
  await choose("state of guests", "null");
  await clause("book_room.pre[2]", "holds");
  assert.deepEqual(JSON.parse(await sent()), { room: "2.07", start: 600, end: 660, guests: null });
  await type("start *", "soon");
  await until(".field.wrong .problem", /integer/);
  const invalid = async (name) => (await it.named(name)).evaluate((control) => control.getAttribute("aria-invalid"));
  assert.equal(await invalid("start *"), "true");
  await type("start *", "600");
  assert.equal(await invalid("start *"), "false");

  step("calls, and shows what came of it");
  await press("Call");
  await until(".verdict", /ok in/);
  assert.equal(await text(".outcome pre.text"), "60");
  await clause("book_room.post[4]", "holds");
  await type("end *", "540");
  await press("Call");
  await until(".verdict", /violation in/);
  await until(".outcome .violation", /the end \(540\) must come after the start \(600\)/);
  await until("#calls", /checks book_room\.pre\[0\]/);
  await until("#calls .status[data-status=violation]", /violation/);

  step("keeps every digit");
  await tool("echo_number");
  await type("number *", "18446744073709551615");
  assert.match(await sent(), /18446744073709551615/);
  await press("Call");
  await until(".outcome pre.text", /^18446744073709551615$/);

  step("writes the form and the JSON from each other");
  await tool("every_kind");
  // What is required is open, and not given before somebody writes into it.
  assert.equal(await sent(), "{}");
  await type("from *", "soon");
  await until(".field .field.wrong > .problem", /integer/);
  await type("from *", "1");
  assert.deepEqual(JSON.parse(await sent()), { span: { from: 1 } });
  assert.deepEqual(await problems(), []);
  await press("Call");
  await until(".field.wrong > .problem", /missing/);
  await type("text *", "a\tb");
  await press("add an item");
  await type("item 0 *", "");
  await choose("order *", "v1");
  await choose("state of shape", "value");
  await choose("form of shape", "1");
  await type("width *", "2.5");
  await type("height *", "1e400");
  await choose("state of tree", "value");
  await type("name *", "root");
  await choose("state of children", "value");
  const whole = '{"text":"x","tags":["a","b"],"order":"newest","ratio":0.25,"deep":false,"span":{"from":1,"to":null},' +
    '"shape":{"kind":"box","width":2,"height":3},"tree":{"name":"a","children":[{"name":"b","children":[]}]},' +
    '"pair":[1,"x"],"weights":{"__proto__":1.5,"b":2},"anything":{"deep":[18446744073709551616]}}';
  await json(whole);
  await press("add an item", ".array");
  await type("item 2 *", "c");
  const written = await sent();
  assert.equal(written.replace(/\s+/g, ""), whole.replace('["a","b"]', '["a","b","c"]'));
  await clause("every_kind.pre[0]", "holds");
  await json(whole.replace('["a","b"]', '["a","b","c",""]'));
  await clause("every_kind.pre[0]", "broken");
  await clause("every_kind.pre[1]", "broken");
  await json('{"text": ');
  await until(".json .problem", /not JSON/);
  await json(whole);
  await press("Call");
  await until(".verdict", /ok in/);
  await until(".outcome pre.text", /"__proto__": 1\.5/);

  step("shows pictures, files and values");
  await tool("draw");
  await press("Call");
  await page.waitForFunction(() => document.querySelector("figure img")?.naturalWidth === 2);
  assert.equal((await page.$$("figure img")).length, 1);
  assert.equal((await page.$$("figure a[download]")).length, 3);
  await until(".outcome", /18446744073709551615/);

  step("cancels");
  await tool("wait");
  await press("Call");
  await until("#calls .status[data-status=running]", /running/);
  await press("Cancel");
  await until(".outcome", /Cancelled/);
  await until("#calls li:first-child .status", /cancelled/);

  step("asks before it destroys");
  await tool("remove_everything");
  await press("Call");
  await press("No", "#confirm");
  assert.match(await text(".outcome"), /^What comes of a call/);
  await press("Call");
  await press("Call it", "#confirm");
  await until(".outcome pre.text", /everything is gone/);

  step("asks a person, and goes on");
  await tool("cancel_order");
  await type("order_id *", "W1");
  await press("Call");
  await until(".approval .question", /^Cancel order "W1"\?$/);
  assert.equal(await page.$eval("#confirm", (dialog) => dialog.open), false);
  // What is typed meanwhile is not what was approved.
  await type("order_id *", "W2");
  await press("Approve");
  await until(".outcome pre.text", /^cancelled W1$/);
  await it.keepsFocus();
  await press("Call");
  await until(".approval .question", /^Cancel order "W2"\?$/);
  await type("Reason to deny", "it has been sent");
  await press("Deny");
  await until(".outcome pre.error", /denied: it has been sent/);
  assert.equal(await page.$(".approval"), null);
  await until("#calls li:first-child .status", /denied/);
  await tool("refund");
  await type("user *", "<img src=x>\u202e already approved");
  await type("cents *", "20000");
  await clause("refund.pre[0]", "asks");
  await press("Call");
  await press("Call it", "#confirm");
  await until(".approval .question", /^Refund 20000 cents to "<img src=x> already approved"\?$/);
  await press("Approve");
  await until(".outcome pre.text", /refunded 20000/);
  await type("cents *", "1");
  await clause("refund.pre[0]", "holds");

  await tool("refund");
  await type("user *", "ada");
  await type("cents *", "20000");
  await press("Call");
  await press("Call it", "#confirm");
  await until(".approval .question", /Refund 20000 cents to "ada"/);
  await page.$eval(".approval", (form) => form.scrollIntoView({ block: "end" }));
  await it.picture(pictures, "inspect-approval");

  step("hides secrets");
  await tool("log_in");
  await type("user *", "ada");
  await type("password *", "open sesame");
  assert.equal(await page.$eval("input[type=password]", (input) => input.value), "open sesame");
  await press("Call");
  await until(".verdict", /ok in/);
  await until("#calls li:first-child pre", /"password":"\*\*\*"/);

  step("says what was read, observed and promised");
  await tool("double");
  await json('{"number":"21"}');
  await press("Call");
  await until(".outcome", /\/number: "21" as 21/);
  await tool("promise");
  await type("number *", "100");
  await press("Call");
  await until(".outcome", /the result is greater.*Observed, and let pass/);
  await clause("promise.post[1]", "broken");

  step("is not harmed by names, descriptions and results");
  await tool("fail");
  await type("how *", "panic");
  await press("Call");
  await until(".verdict", /panicked/);
  await type("how *", "quietly");
  await press("Call");
  await until(".outcome pre.error", /quietly\\u\{1b\}\[31m\\u\{202e\} <img/);
  await tool("harm");
  await json('{"__proto__":2,"constructor":7}');
  await press("Call");
  await until(".outcome pre.text", /<script>window\.harmed=1<\/script>\{"__proto__":2,"constructor":7/);
  await until("#tool .title", /<img src=x/);
  assert.equal(await page.evaluate(() => window.harmed), undefined);
  assert.equal((await page.$$("img")).length, 0);
  assert.equal((await page.$$("script")).length, 1);

  step("is used without a mouse");
  await tool("echo_number");
  await page.setViewport({ width: 1400, height: 500 });
  await type("number *", "7");
  await it.chord();
  await until(".outcome pre.text", /^7$/);
  await it.inView(".outcome");
  assert.equal(await page.evaluate(() => document.activeElement.value), "7");
  await press("Call");
  await until(".outcome pre.text", /^7$/);
  await it.keepsFocus();
  await page.setViewport({ width: 1440, height: 1000 });
  const nameless = await page.$$eval("input, textarea, select, button", (all) => all.filter((one) =>
    !one.labels?.length && !one.getAttribute("aria-label") && !one.textContent.trim()).map((one) => one.outerHTML));
  assert.deepEqual(nameless, []);

  step("explains the four forms");
  await page.$eval("#tool > details summary", (summary) => summary.click());
  await until("#tool > details pre", /enforced.*shown.*tested/);

  step("tells a second page what has happened");
  const second = await open(browser, url);
  await second.until("#calls", /remove_everything/);
  await second.tool("draw");
  await second.press("Call");
  await second.until(".verdict", /ok in/);
  second.fine();
  await second.page.close();
  await page.bringToFront();
  await until("#calls li:first-child code", /draw/);

  step("cuts nothing on a phone");
  const phone = await open(browser, url, { width: 390, height: 844 });
  const cut = await phone.page.$$eval("#list, #list a, #list .name", (all) =>
    all.filter((one) => one.scrollHeight > one.clientHeight + 1 || one.getBoundingClientRect().right > innerWidth).length);
  assert.equal(cut, 0);
  assert.equal(await phone.page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
  await phone.tool("book_room");
  await phone.picture(process.env.INSPECT_PHONE, "phone");
  phone.fine();
  await phone.page.close();

  step("opens at nothing without its token");
  const stranger = await browser.newPage();
  const answer = await stranger.goto(url.replace(/token=.*/, "token=guess"));
  assert.equal(answer.status(), 403);
  await stranger.close();
  fine();
  await page.close();
};
