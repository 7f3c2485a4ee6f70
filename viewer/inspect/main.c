// vmvis-inspect: questions about a trace, answered as text or JSON.
#include "inspect.h"

int main(int argc, char **argv) { return inspect_main(argc, argv); }
