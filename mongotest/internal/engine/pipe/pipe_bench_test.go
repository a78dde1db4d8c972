//go:build unix

package pipe

import (
	"io"
	"net"
	"syscall"
	"testing"
	"time"
)

// BenchmarkPingPong sends requests and replies of the size of a findOne as the driver does: a reply's length is read
// first. Beside the time it tells that of the processors, which other work on the machine doesn't lengthen.
func BenchmarkPingPong(b *testing.B) {
	for name, connect := range map[string]func() (net.Conn, net.Conn){"pipe": New, "net.Pipe": net.Pipe, "TCP": tcp} {
		b.Run(name, func(b *testing.B) {
			client, server := connect()
			go func() {
				p, reply := make([]byte, 4096), make([]byte, 300)
				for {
					if _, err := server.Read(p); err != nil {
						return
					}
					_, _ = server.Write(reply)
				}
			}()
			request, head, rest := make([]byte, 200), make([]byte, 4), make([]byte, 296)
			began := cpu()
			for b.Loop() {
				_, _ = client.Write(request)
				_, _ = io.ReadFull(client, head)
				_, _ = io.ReadFull(client, rest)
			}
			b.ReportMetric(float64(cpu()-began)/float64(b.N), "cpu-ns/op")
			client.Close()
			server.Close()
		})
	}
}

// cpu is the processors' time that the process has taken.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func tcp() (net.Conn, net.Conn) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		panic(err)
	}
	s, err := l.Accept()
	if err != nil {
		panic(err)
	}
	return c, s
}
