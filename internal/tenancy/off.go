//go:build !docmodel_tenant

package tenancy

// On reports whether the tests are built with the tag docmodel_tenant.
const On = false
