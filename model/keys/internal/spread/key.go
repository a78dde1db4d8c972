package spread

import (
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// This file has the text of a key, such as 2014-03-28#007: the value, the separator, and the part's number in three
// digits. It also chooses the part. keys.Spread exports Key and KeyAt. The store, the queries and the check make all
// their keys here too.

const separator = "#"

// checkValue refuses a value that a key can't contain, because splitKey couldn't find it again.
func (k *Keys) checkValue(value string) error {
	switch {
	case value == "":
		return k.docs.Refuse(k.path, value, "is empty")
	case strings.Contains(value, separator):
		return k.docs.Refuse(k.path, value, "holds "+separator+", which separates the value from its part")
	}
	return nil
}

// formatKey returns the key of a value in a part: 2014-03-28#007. The number of digits doesn't depend on Parts, so that
// a document which stays in its part keeps its key when Parts changes.
func formatKey(value string, part int) string { return fmt.Sprintf("%s%s%03d", value, separator, part) }

// splitKey is the reverse of formatKey. A text without a separator is a value without a part: then part is -1. For any
// other text, value is "".
func splitKey(text string) (value string, part int) {
	value, digits, ok := strings.Cut(text, separator)
	if !ok {
		return text, -1
	}
	if len(digits) != 3 || strings.Trim(digits, "0123456789") != "" || value == "" {
		return "", -1
	}
	_, err := fmt.Sscanf(digits, "%03d", &part)
	if err != nil {
		return "", -1
	}
	return value, part
}

// choosePart returns a part from 0 to parts-1. number is the hash of By, or the number that a caller gave to KeyAt.
func choosePart(number uint64, parts int) int { return int(number % uint64(parts)) }

// hashBy encodes a caller's value of By as the collection stores it, and returns its hash.
func (k *Keys) hashBy(v any) (uint64, error) {
	raw, err := k.docs.Raw(v)
	if err != nil {
		return 0, k.docs.Refuse(k.spec.By, nil, err.Error())
	}
	return k.hashRaw(raw)
}

// hashRaw is hashBy for a stored value. It refuses values that Point couldn't find by equality.
func (k *Keys) hashRaw(raw bson.RawValue) (uint64, error) {
	if !canLookUp(raw) {
		return 0, k.docs.Refuse(k.spec.By, nil,
			"is missing, null, an array or a regular expression, which can't be looked up")
	}
	return uint64(bsonval.Hash64(raw)), nil
}

// canLookUp reports whether an equality on a field finds exactly the documents with this value. An equality with null
// also finds missing fields, and an equality with an array also finds arrays that contain it.
func canLookUp(v bson.RawValue) bool {
	switch v.Type {
	case 0, bson.TypeNull, bson.TypeUndefined, bson.TypeRegex, bson.TypeArray:
		return false
	}
	return true
}

// Key returns the key of a value for the document with a value of By.
func (k *Keys) Key(value string, by any) (string, error) {
	if k.spec.By == "" {
		return "", k.docs.Refuse("By", nil, "wasn't declared, so the caller chooses the part: use KeyAt")
	}
	if err := k.checkValue(value); err != nil {
		return "", err
	}
	n, err := k.hashBy(by)
	return formatKey(value, choosePart(n, k.spec.Parts)), err
}

// KeyAt returns the key of a value in the part that a number chooses. A part by the caller's choice and a part by By
// would contradict each other, so KeyAt is refused if By is declared.
func (k *Keys) KeyAt(value string, number uint64) (string, error) {
	if k.spec.By != "" {
		return "", k.docs.Refuse("number", number, "can't be chosen, because By chooses the part: use Key")
	}
	return formatKey(value, choosePart(number, k.spec.Parts)), k.checkValue(value)
}
