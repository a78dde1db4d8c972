package slots

// HashToken is for tests that choose tokens by their slot.
var HashToken = hashToken
