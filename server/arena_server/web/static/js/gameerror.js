// An option, a position or a move that a game refuses; the message is one line.

export class GameError extends Error {}
