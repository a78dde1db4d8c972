package model

import (
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mongosh"
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
		return mongosh.Document(x)
	case bson.RawValue:
		return mongosh.Text(x)
	}
	if err := core.CheckDepth(v); err != nil {
		return fmt.Sprintf("/* %T: %v */", v, err)
	}
	raw, err := bson.Marshal(bson.D{{Key: "v", Value: v}})
	if err != nil {
		return fmt.Sprintf("/* %T: %v */", v, err)
	}
	return mongosh.Text(bson.Raw(raw).Lookup("v"))
}

// isMethod reports whether db.name isn't the collection in mongosh. This includes all
// names that begin with an underscore.
func isMethod(name string) bool {
	if name[0] == '_' {
		return true
	}
	switch name {
	case "adminCommand", "aggregate", "auth", "commandHelp", "constructor", "createCollection",
		"createEncryptedCollection",
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
	if mongosh.IsIdentifier(collection) && !isMethod(collection) {
		b.WriteString("db." + collection)
	} else {
		b.WriteString("db.getCollection(" + mongosh.Quote(collection) + ")")
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
