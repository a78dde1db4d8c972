package fts

import "testing"

// TestStem has words of the vocabulary that Snowball publishes with its English stemmer.
func TestStem(t *testing.T) {
	for word, want := range map[string]string{
		"consign": "consign", "consigned": "consign", "consigning": "consign",
		"consignment": "consign", "consist": "consist", "consisted": "consist", "consistency": "consist",
		"consistent": "consist", "consistently": "consist", "consolation": "consol", "consolations": "consol",
		"consolatory": "consolatori", "console": "consol", "consolingly": "consol", "consols": "consol",
		"consonant": "conson", "consorting": "consort", "conspicuous": "conspicu", "conspicuously": "conspicu",
		"conspiracy": "conspiraci", "conspirators": "conspir", "constables": "constabl", "constancy": "constanc",
		"knack": "knack", "knaves": "knave", "knavish": "knavish", "kneaded": "knead", "kneel": "kneel",
		"knightly": "knight", "knitted": "knit", "knotty": "knotti", "knocked": "knock",
		// The description's own examples.
		"cries": "cri", "ties": "tie", "gas": "gas", "this": "this", "gaps": "gap",
		"kiwis": "kiwi", "luxuriated": "luxuri", "hopping": "hop", "hoping": "hope", "cry": "cri", "by": "by",
		"say": "say", "youth": "youth", "boy": "boy", "generate": "generat", "generates": "generat",
		"generic": "generic", "generically": "generic", "communism": "communism", "skies": "sky", "dying": "die",
		"news": "news", "innings": "inning", "succeed": "succeed", "early": "earli",
		// Words that the manual's examples of text search have.
		"coffee": "coffe", "shopping": "shop", "shops": "shop", "baking": "bake", "cakes": "cake", "bees": "bee",
		"national": "nation", "relational": "relat", "hopefulness": "hope", "dog's": "dog",
		"dogs'": "dog", "a": "a", "'": "'", "feed": "feed", "agreed": "agre", "bleed": "bleed",
		"sensibility": "sensibl", "analogy": "analog", "rate": "rate", "roll": "roll",
	} {
		if got := Stem(word); got != want {
			t.Errorf("%s: %s, want %s", word, got, want)
		}
	}
}
