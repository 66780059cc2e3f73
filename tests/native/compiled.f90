! Built with -finstrument-functions.
module grids
contains
  subroutine relax(n)
    integer, intent(in) :: n
    integer, volatile :: kept
    kept = n
  end subroutine
end module

subroutine solve(n)
  use grids
  integer, intent(in) :: n
  integer :: i
  do i = 1, n
    call relax(i)
  end do
end subroutine

program model
  call solve(2)
end program
