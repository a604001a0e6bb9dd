// The panels beside a board, in the order of their tabs. game.js says what a panel is.

import { MovesPanel } from "./moves.js";

export const PANELS = [MovesPanel];
