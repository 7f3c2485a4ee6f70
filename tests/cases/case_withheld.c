// Says where its environment and a text on the heap lie, then waits and works a moment, so that frames see both.
#include <stdio.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

extern char **environ;

int main(void) {
    char *heap = malloc(64);
    if (!heap) return 2;
    snprintf(heap, 64, "heap:%s", "kept-where-it-is");
    char *last = environ[0];
    for (char **at = environ; *at; at++) last = *at + strlen(*at);
    printf("{\"what\":\"withheld\",\"env\":\"%p\",\"end\":\"%p\",\"heap\":\"%p\"}\n", (void *)environ[0], (void *)last,
           (void *)heap);
    fflush(stdout);
    nanosleep(&(struct timespec){0, 60000000}, NULL);
    for (volatile int i = 0; i < 20000000; i++) {
    }
    return heap[0] == 'h' ? 0 : 1;
}
