package differ
import ("testing";"fmt";"os";"strings";"strconv")
func TestShow(t *testing.T){ for _, f := range strings.Fields(os.Getenv("S")) { i,_:=strconv.Atoi(f); c:=Generate(1,i); fmt.Println(i, Outcome{Reply:c.Command}.show()) } }
