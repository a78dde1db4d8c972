package main

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// rounds is the number of PBKDF2 rounds that OWASP recommends for SHA-256.
const rounds = 600_000

// hashPassword returns rounds, salt and hash of a password, as one text.
func hashPassword(password string, rounds int) (string, error) {
	salt := make([]byte, 16)
	if _, err := rand.Read(salt); err != nil {
		return "", err
	}
	hash, err := pbkdf2.Key(sha256.New, password, salt, rounds, sha256.Size)
	return fmt.Sprintf("%d:%x:%x", rounds, salt, hash), err
}

// isPassword reports whether hashPassword made the hash of the password.
func isPassword(hashed, password string) bool {
	part := strings.Split(hashed, ":")
	if len(part) != 3 {
		return false
	}
	rounds, errRounds := strconv.Atoi(part[0])
	salt, errSalt := hex.DecodeString(part[1])
	want, errHash := hex.DecodeString(part[2])
	if errRounds != nil || errSalt != nil || errHash != nil {
		return false
	}
	hash, err := pbkdf2.Key(sha256.New, password, salt, rounds, sha256.Size)
	return err == nil && hmac.Equal(hash, want)
}

// A signer makes tokens, each for a user until a time.
type signer []byte

func (s signer) sign(text string) string {
	mac := hmac.New(sha256.New, s)
	mac.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// token returns the user's id, the time in Unix seconds and the signature of both.
func (s signer) token(user bson.ObjectID, until time.Time) string {
	text := fmt.Sprintf("%s.%d", user.Hex(), until.Unix())
	return text + "." + s.sign(text)
}

// user returns the user of a valid token.
func (s signer) user(token string, now time.Time) (id bson.ObjectID, ok bool) {
	at := strings.LastIndexByte(token, '.')
	if at < 0 || !hmac.Equal([]byte(s.sign(token[:at])), []byte(token[at+1:])) {
		return id, false
	}
	hexID, seconds, _ := strings.Cut(token[:at], ".")
	id, errID := bson.ObjectIDFromHex(hexID)
	until, errTime := strconv.ParseInt(seconds, 10, 64)
	return id, errID == nil && errTime == nil && now.Unix() < until
}
