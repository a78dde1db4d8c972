package model

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Shell returns a mongosh expression with the value's exact type, such as Long('…'). A
// value that BSON can't represent becomes a comment with the error.
func Shell(v any) string { return shell(v) }

func shell(v any) string {
	switch x := v.(type) {
	case mongo.Pipeline:
		a := make(bson.A, len(x))
		for i, s := range x {
			a[i] = s
		}
		v = a
	case []bson.D:
		a := make(bson.A, len(x))
		for i, s := range x {
			a[i] = s
		}
		v = a
	case bson.Raw:
		return string(appendShell(nil, bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: x}, 0))
	case bson.RawValue:
		return string(appendShell(nil, x, 0))
	}
	if err := core.CheckDepth(v); err != nil {
		return fmt.Sprintf("/* %T: %v */", v, err)
	}
	raw, err := bson.Marshal(bson.D{{Key: "v", Value: v}})
	if err != nil {
		return fmt.Sprintf("/* %T: %v */", v, err)
	}
	return string(appendShell(nil, bson.Raw(raw).Lookup("v"), 0))
}

func appendShell(b []byte, v bson.RawValue, depth int) []byte {
	switch {
	case depth > core.MaxLevels:
		return fmt.Appendf(b, "/* nested deeper than %d levels */", core.MaxLevels)
	case !core.WellFormed(v):
		return fmt.Appendf(b, "/* invalid bytes of a %s */", v.Type)
	}
	switch v.Type {
	case bson.TypeEmbeddedDocument:
		return appendShellDocument(b, bson.Raw(v.Value), depth)
	case bson.TypeArray:
		return appendShellArray(b, bson.RawArray(v.Value), depth)
	case bson.TypeString:
		return appendShellString(b, v.StringValue())
	case bson.TypeInt32:
		return strconv.AppendInt(b, int64(v.Int32()), 10)
	case bson.TypeInt64:
		return append(strconv.AppendInt(append(b, "Long('"...), v.Int64(), 10), "')"...)
	case bson.TypeDouble:
		return appendShellDouble(b, v.Double())
	case bson.TypeBoolean:
		return strconv.AppendBool(b, v.Boolean())
	case bson.TypeNull:
		return append(b, "null"...)
	case bson.TypeObjectID:
		return append(append(append(b, "ObjectId('"...), v.ObjectID().Hex()...), "')"...)
	case bson.TypeDateTime:
		return appendShellDate(b, v.DateTime())
	}
	return append(b, shellRare(v, depth)...)
}

func appendShellDocument(b []byte, doc bson.Raw, depth int) []byte {
	elems, err := doc.Elements()
	if err != nil {
		return fmt.Appendf(b, "/* %v */", err)
	}
	b = append(b, '{')
	for i, e := range elems {
		if i > 0 {
			b = append(b, ", "...)
		}
		switch key := e.Key(); {
		case key == "__proto__": // a plain key with this name sets the object's prototype
			b = append(b, "['__proto__']"...)
		case isIdentifier(key):
			b = append(b, key...)
		default:
			b = appendShellString(b, key)
		}
		b = appendShell(append(b, ": "...), e.Value(), depth+1)
	}
	return append(b, '}')
}

func appendShellArray(b []byte, arr bson.RawArray, depth int) []byte {
	values, err := arr.Values()
	if err != nil {
		return fmt.Appendf(b, "/* %v */", err)
	}
	b = append(b, '[')
	for i, v := range values {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = appendShell(b, v, depth+1)
	}
	return append(b, ']')
}

func appendShellString(b []byte, s string) []byte {
	b = append(b, '\'')
	plain := 0 // s[plain:i] needs no escape
	for i, r := range s {
		if r >= ' ' && r != '\'' && r != '\\' && r != 0x7f && r != 0x2028 && r != 0x2029 && r != utf8.RuneError {
			continue
		}
		b = append(b, s[plain:i]...)
		_, size := utf8.DecodeRuneInString(s[i:])
		plain = i + size
		switch r {
		case '\'', '\\':
			b = append(b, '\\', byte(r))
		case '\n':
			b = append(b, '\\', 'n')
		case utf8.RuneError:
			b = utf8.AppendRune(b, r)
		default:
			b = fmt.Appendf(b, "\\u%04x", r)
		}
	}
	return append(append(b, s[plain:]...), '\'')
}

// appendShellDouble writes whole numbers as Double(5), because mongosh stores a plain 5
// as an int.
func appendShellDouble(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, "NaN"...)
	case math.IsInf(f, 1):
		return append(b, "Infinity"...)
	case math.IsInf(f, -1):
		return append(b, "-Infinity"...)
	case f == math.Trunc(f):
		return append(strconv.AppendFloat(append(b, "Double("...), f, 'g', -1, 64), ')')
	}
	return strconv.AppendFloat(b, f, 'g', -1, 64)
}

func appendShellDate(b []byte, ms int64) []byte {
	t := time.UnixMilli(ms).UTC()
	if y := t.Year(); y < 0 || y > 9999 {
		return append(strconv.AppendInt(append(b, "new Date("...), ms, 10), ')')
	}
	return append(t.AppendFormat(append(b, "ISODate('"...), "2006-01-02T15:04:05.000Z"), "')"...)
}

func shellRare(v bson.RawValue, depth int) string {
	switch v.Type {
	case bson.TypeDecimal128:
		return "Decimal128('" + v.Decimal128().String() + "')"
	case bson.TypeBinary:
		subtype, data := v.Binary()
		if subtype == bson.TypeBinaryUUID && len(data) == 16 {
			h := hex.EncodeToString(data)
			return "UUID('" + h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:] + "')"
		}
		return fmt.Sprintf("BinData(%d, '%s')", subtype, base64.StdEncoding.EncodeToString(data))
	case bson.TypeRegex:
		pattern, flags := v.Regex()
		name := "RegExp"
		if pattern == "" || strings.Contains(pattern, "(?") || strings.Trim(flags, "ims") != "" {
			name = "BSONRegExp" // JavaScript's RegExp would change or refuse it
		}
		if flags == "" {
			return name + "(" + string(appendShellString(nil, pattern)) + ")"
		}
		return name + "(" + string(appendShellString(nil, pattern)) + ", " + string(appendShellString(nil, flags)) + ")"
	case bson.TypeTimestamp:
		t, i := v.Timestamp()
		return fmt.Sprintf("Timestamp({t: %d, i: %d})", t, i)
	case bson.TypeMinKey:
		return "MinKey()"
	case bson.TypeMaxKey:
		return "MaxKey()"
	case bson.TypeUndefined:
		return "undefined"
	case bson.TypeSymbol:
		return "BSONSymbol(" + string(appendShellString(nil, v.Symbol())) + ")"
	case bson.TypeJavaScript:
		return "Code(" + string(appendShellString(nil, v.JavaScript())) + ")"
	case bson.TypeCodeWithScope:
		code, scope := v.CodeWithScope()
		return "Code(" + string(appendShellString(nil, code)) + ", " + string(appendShellDocument(nil, scope, depth+1)) + ")"
	}
	return v.String()
}

func isIdentifier(s string) bool {
	for i, r := range s {
		letter := r == '_' || r == '$' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// isMethod reports whether db.name isn't the collection in mongosh. This includes all
// names that begin with an underscore.
func isMethod(name string) bool {
	if name[0] == '_' {
		return true
	}
	switch name {
	case "adminCommand", "aggregate", "auth", "commandHelp", "constructor", "createCollection", "createEncryptedCollection",
		"createRole", "createUser", "createView", "currentOp", "disableFreeMonitoring", "dropAllRoles", "dropAllUsers",
		"dropDatabase", "dropRole", "dropUser", "enableFreeMonitoring", "eval", "fsyncLock", "fsyncUnlock", "getCollection",
		"getCollectionInfos", "getCollectionNames", "getFreeMonitoringStatus", "getLogComponents", "getMongo", "getName",
		"getProfilingStatus", "getReplicationInfo", "getRole", "getRoles", "getSiblingDB", "getUser", "getUsers",
		"grantPrivilegesToRole", "grantRolesToRole", "grantRolesToUser", "hasOwnProperty", "hello", "help", "hostInfo",
		"isMaster", "killOp", "listCommands", "logout", "printCollectionStats", "printReplicationInfo",
		"printSecondaryReplicationInfo", "printShardingStatus", "revokePrivilegesFromRole", "revokeRolesFromRole",
		"revokeRolesFromUser", "rotateCertificates", "runCommand", "serverBits", "serverBuildInfo", "serverCmdLineOpts",
		"serverStatus", "setLogLevel", "setProfilingLevel", "shutdownServer", "sql", "stats", "toJSON", "toString",
		"updateRole", "updateUser", "valueOf", "version", "watch":
		return true
	}
	return false
}

// shellCall renders db.collection.method(args…).
func shellCall(collection, method string, args ...any) string {
	var b strings.Builder
	if isIdentifier(collection) && !isMethod(collection) {
		b.WriteString("db." + collection)
	} else {
		b.WriteString("db.getCollection(" + string(appendShellString(nil, collection)) + ")")
	}
	b.WriteString("." + method + "(")
	for i, a := range args {
		if i > 0 {
			b.WriteString(", ")
		}
		if a == nil {
			a = bson.D{}
		}
		b.WriteString(shell(a))
	}
	return b.String() + ")"
}
