//go:build !docmodel_tenant

package modeltest

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// tenants is nothing without the build tag docmodel_tenant.
type tenants struct{}

func (*tenants) dialer(d options.ContextDialer) options.ContextDialer { return d }

func (*tenants) check(testing.TB, *backend) {}
