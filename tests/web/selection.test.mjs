// Run by tests/web/test_selection.py: node --test tests/web/selection.test.mjs
import assert from "node:assert/strict";
import test from "node:test";
import { ticks, tickTexts } from "../../src/ludus/web/static/charts.js";
import { fits, outlook, press } from "../../src/ludus/web/static/selection.js";

const move = (name, ...touches) => ({ move: name, touches: touches.map((each) => [each].flat()) });
const walks = [move("a2a3", "a2", "a3"), move("a2b3", "a2", "b3"), move("b2b3", "b2", "b3"), move("pass")];
const tiles = [move("a1", "a1"), move("a7", "a7"), move("a1+a7", "a1", "a7"), move("g1", "g1")];

test("a move with one click is played at once", () => {
  assert.equal(press([move("d", ["d1", "d2"])], [], "d2", false).play.move, "d");
});

test("a piece is selected, and its destinations are next", () => {
  const effect = press(walks, [], "a2", false);
  assert.deepEqual(effect, { touched: ["a2"] });
  assert.deepEqual([...outlook(walks, ["a2"], false).next], ["a3", "b3"]);
  assert.equal(press(walks, ["a2"], "b3", false).play.move, "a2b3");
});

test("a click on another piece selects that one, and on the same piece none", () => {
  assert.deepEqual(press(walks, ["a2"], "b2", false).play ?? press(walks, ["a2"], "b2", false).touched, ["b2"]);
  assert.deepEqual(press(walks, ["a2"], "a2", false), { touched: [] });
});

test("an attempt that fits no move keeps the selection and names all clicks", () => {
  assert.deepEqual(press(walks, ["a2"], "h8", false), { touched: ["a2"], refused: ["a2", "h8"] });
  assert.deepEqual(press(walks, [], "h8", false), { touched: [], refused: ["h8"] });
});

test("a move that a longer one begins with waits for a confirmation", () => {
  assert.deepEqual(press(tiles, [], "a7", true), { touched: ["a7"] });
  assert.deepEqual(outlook(tiles, ["a7"], true).complete.map((each) => each.move), ["a7"]);
  assert.equal(press(tiles, ["a7"], "a1", true).play.move, "a1+a7");
});

test("where the order does not matter, a second click on a tile puts it back", () => {
  assert.deepEqual(press(tiles, ["a7"], "a7", true), { touched: [] });
  assert.deepEqual(press(tiles, ["a7"], "c3", true), { touched: ["a7"], refused: ["c3"] });
});

test("a move that touches nothing is never begun by a click", () => {
  assert.ok(!outlook(walks, [], false).alive.some((each) => each.move === "pass"));
  assert.ok(fits(move("pass"), [], false));
});

test("two moves with the same clicks are offered as a choice", () => {
  const twins = [move("promote queen", "a7", "a8"), move("promote rook", "a7", "a8")];
  assert.deepEqual(press(twins, ["a7"], "a8", false), { touched: ["a7", "a8"] });
  assert.equal(outlook(twins, ["a7", "a8"], false).complete.length, 2);
});

test("ticks of a chart are told apart however close they are", () => {
  for (const [low, high] of [[1.78, 1.83], [0, 340], [0.001, 0.0012], [0, 20000]]) {
    const texts = tickTexts(ticks(low, high));
    assert.equal(new Set(texts).size, texts.length);
  }
});
