// How clicks become a move. Pure functions over the legal moves of a board: each move has `touches`, a list of clicks,
// each of them a list of ids of which any will do (docs/board.md).

/** True if the ids clicked so far can begin this move. */
export function fits(move, touched, anyOrder) {
  if (touched.length > move.touches.length) return false;
  if (!anyOrder) return touched.every((id, i) => move.touches[i].includes(id));
  const left = [...move.touches];
  return touched.every((id) => {
    const at = left.findIndex((ids) => ids.includes(id));
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}

/**
 * What the ids clicked so far allow: `alive`, the moves that they can begin; `complete`, those that need no further
 * click; `next`, the ids that can be clicked next.
 */
export function outlook(moves, touched, anyOrder) {
  const alive = moves.filter((move) => move.touches.length > 0 && fits(move, touched, anyOrder));
  const complete = alive.filter((move) => move.touches.length === touched.length);
  const next = new Set();
  for (const move of alive) {
    const open = anyOrder ? move.touches.filter((ids) => !ids.some((id) => touched.includes(id))) : move.touches.slice(touched.length, touched.length + 1);
    for (const ids of open) for (const id of ids) next.add(id);
  }
  return { alive, complete, next };
}

/**
 * The effect of clicking `id` after `touched`: {touched} is the new selection, {play} a move that is complete and that
 * no longer move begins with, {refused} the ids of an attempt that fits no legal move.
 */
export function press(moves, touched, id, anyOrder) {
  if (touched.includes(id) && (anyOrder || touched[touched.length - 1] === id)) {
    return { touched: anyOrder ? touched.filter((each) => each !== id) : [] };
  }
  const longer = [...touched, id];
  const { alive, complete } = outlook(moves, longer, anyOrder);
  if (alive.length === 1 && complete.length === 1) return { touched: [], play: complete[0] };
  if (alive.length > 0) return { touched: longer };
  if (touched.length > 0 && outlook(moves, [id], anyOrder).alive.length > 0) return press(moves, [], id, anyOrder);
  return { touched, refused: anyOrder && touched.length > 0 ? [id] : longer };
}
