/* The parts of libphonenumber and its metadata that phone-numbers.ts uses: closeloop's package ships these 73 files as a single file. */
export { isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/max';
