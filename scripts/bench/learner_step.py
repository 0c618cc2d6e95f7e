"""What the steps of other programs are measured by; the same for each of them."""

import resource
import statistics
import time


def report(name, step, tokens, o):
    """Takes one step to warm up and `o["steps"]` that count, and prints the median."""
    step()
    clocks, processors = [], []
    for _ in range(o["steps"]):
        clock, processor = time.perf_counter(), time.process_time()
        step()
        clocks.append(time.perf_counter() - clock)
        processors.append(time.process_time() - processor)
    seconds, processor = statistics.median(clocks), statistics.median(processors)
    print(
        f"{name}, {o['threads']} threads: step {seconds * 1000:.0f} ms ({processor * 1000:.0f} ms of the processor), "
        f"{tokens / seconds:.0f} tokens/s; peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB"
    )
