// The page with the tools of the quickstart; what the guide shows of it is taken here.
import { open } from "./page.mjs";

export const quickstart = async (browser, url, pictures) => {
  const it = await open(browser, url, { width: 1280, height: 860 });
  const { page, until, clause, tool, type, press, fine } = it;
  const picture = async (name) => {
    await page.evaluate(() => window.scrollTo(0, 0));
    await it.picture(pictures, name);
  };
  await tool("book_room");
  await type("start *", "600");
  await type("end *", "540");
  await clause("book_room.pre[0]", "broken");
  // The program has been asked, and has answered.
  await until('[data-id="book_room.pre[0]"] .problem', /the end \(540\)/);
  await picture("inspect-clauses");
  await press("Call");
  await until(".verdict", /violation in/);
  await page.$eval("#calls li:first-child details", (details) => {
    details.open = true;
  });
  await picture("inspect-violation");
  await type("end *", "660");
  await clause("book_room.pre[0]", "holds");
  await press("Call");
  await until(".verdict", /ok in/);
  fine();
  await page.close();
};
