package check

import "sync"

// AtOnce calls do with each number below n, all at once, and returns when all calls have. A panic
// of one becomes a panic of the caller.
func AtOnce(n int, do func(i int)) {
	var wg sync.WaitGroup
	panics := make([]any, n)
	for i := range n {
		wg.Go(func() {
			defer func() { panics[i] = recover() }()
			do(i)
		})
	}
	wg.Wait()
	for _, p := range panics {
		if p != nil {
			panic(p)
		}
	}
}
