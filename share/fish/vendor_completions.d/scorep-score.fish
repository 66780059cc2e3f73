# fish completion of scorep-score; made by scripts/pages/command_pages.py
complete -c scorep-score -s h -d 'print this help'
complete -c scorep-score -l help -d 'print this help'
complete -c scorep-score -s r -d 'show all regions'
complete -c scorep-score -s f -r -d 'show the result with this filter file applied'
complete -c scorep-score -s c -r -d 'that many counters will be recorded with every event (default: 0)'
complete -c scorep-score -s m -d 'show mangled names of regions'
complete -c scorep-score -s s -r -d 'sort by maxbuffer (default), totaltime, timepervisit, visits or name'
complete -c scorep-score -s g -d 'write initial_scorep.filter, a first filter; LIST is made of bufferpercent=N at least N % of the largest buffer (default: 1) bufferabsolute=N at least N MB of it (default: 0) visits=N at least N visits (default: 0) timepervisit=N at most N microseconds a visit (default: 1) type=usr|com|both of these types (default: usr) all whatever can be filtered, into max_scorep.filter with commas between them'
