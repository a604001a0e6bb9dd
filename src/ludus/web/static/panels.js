// The panels beside a board, in the order of their tabs. game.js says what a panel is.

import { AnalysisPanel } from "./analysis.js";
import { MovesPanel } from "./moves.js";
import { TreePanel } from "./tree.js";

export const PANELS = [MovesPanel, AnalysisPanel, TreePanel];
