// These functions are shared by the tests of package embed.

package embed_test

import "github.com/docmodel/docmodel/internal/testkit"

var (
	d, oid, catch                    = testkit.D, testkit.OID, testkit.Catch
	mustRun, checkErr                = testkit.MustRun, testkit.CheckErr
	errDuplicate, errServer          = testkit.ErrDuplicate, testkit.ErrServer
	checkOf, foundIDs, mend, finding = testkit.CheckOf, testkit.FoundIDs, testkit.Mend, testkit.Finding
	embRaw                           = testkit.Raw
)
