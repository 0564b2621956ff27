"""Lists of common names. Each list is one string, because Python compiles it faster than a thousand strings."""


def _listed(text):
    return frozenset(part.strip() for part in text.replace("\n", " ").split(",") if part.strip())


GIVEN_NAMES = frozenset("""
Aaron Abdul Abdullah Abigail Ada Adam Adrian Adriana Agnes Ahmed Aida Aisha Akira Alan Albert Alberto Alejandro Aleksandr Alessandro Alex Alexander Alexandra Alexei
Alfred Alice Alicia Alina Alison Allison Alma Amal Amanda Amara Amelia Amélie Amin Amina Amir Amit Amy Ana Anders Andrea Andreas Andrei Andrew Angela Angelo Anita Anja Anke Ann
Anna Anne Annette Antoine Anthony Antonio Anwar Arjun Arnold Arthur Arturo Asha Astrid Audrey Ayaan Ayesha Barbara Beatrice Beatriz Ben Benjamin Bernard Bernd Beth Birgit
Bob Boris Brandon Brenda Brian Brigitte Bruce Bruno Camila Camille Carl Carla Carlo Carlos Carmen Carol Caroline Carolyn Catherine Cecilia Charles Charlie Charlotte
Chen Chiara Chloe Chris Christian Christina Christine Christopher Cindy Claire Clara Claudia Claudio Colin Connor Craig Cristina Cynthia Daniel Daniela Danielle Daria David
Dean Deborah Deepa Denis Dennis Derek Diana Diego Dieter Dimitri Dmitri Dmitry Dominic Donald Donna Doris Dorothy Douglas Edith Edward Edwin Eduardo Eileen Elaine Eleanor Elena
Eleni Elias Elif Elisabeth Elizabeth Ella Ellen Elsa Emil Emilia Emily Emma Emmanuel Enrique Eric Erik Erika Ernest Esther Ethan Eugene Eva Evelyn Fabio Fatima Fatou
Felipe Felix Fernando Fiona Florian Frances Francesca Francesco Francisco François Frank Franz Fred Frederick Friedrich Gabriel Gabriela Gareth Gary Gemma Geoffrey
George Georgia Gerald Gerhard Gianni Gina Giorgio Giovanni Giulia Giuseppe Gloria Gordon Greg Gregory Greta Guillaume Gustav Guy Hamza Hana Hannah Hans Haruto Harold Harriet Harry
Hassan Heather Heidi Heinrich Heinz Helen Helena Helga Henri Henrik Henry Herbert Hiroshi Holly Howard Hugo Ian Ibrahim Igor Ilse Imran Ines Ingrid Irene Irina Isaac Isabel
Isabella Ivan Ivana Jack Jackie Jacob Jacqueline Jakob James Jamie Jan Jana Jane Janet Janice Jasmine Jason Javier Jean Jeff Jeffrey Jennifer Jenny Jens Jeremy Jerry
Jesse Jessica Jill Jim Jimmy Joan Joanna João Joe Joel Johann Johanna John Johnny Jon Jonas Jonathan Jorge José Joseph Josephine Joshua Joyce Juan Juanita Judith Judy Julia Julian
Juliana Julie Julien Jun Jürgen Justin Kai Karen Karim Karin Karl Karolina Kate Katharina Katherine Kathleen Kathryn Katie Katja Kazuo Keith Kelly Ken Kenji Kenneth Kevin Khalid
Kim Kimberly Klaus Kofi Krishna Kristin Kurt Kwame Kyle Lars Laura Lauren Laurent Lea Leah Leila Lena Leo Leon Leonardo Leonie Leslie Lewis Li Liam Liisa Lilian Lily Linda
Lisa Liu Lorenzo Louis Louisa Louise Luc Luca Lucas Lucia Lucy Ludwig Luigi Luis Luisa Lukas Lydia Lynn Magda Magdalena Mahmoud Malcolm Malik Manuel Mandy Marc Marcel Marcia
Marco Marcus Margaret Maria María Marianne Mariam Marie Marina Mario Marion Markus Marta Martha Martin Martina Mary Mateo Matteo Matthew Matthias Maurice Max Maya Megan Mehmet Mei
Melanie Melissa Mia Michael Michel Michelle Miguel Mike Mikhail Milan Mina Miriam Mohamed Mohammed Monica Monika Muhammad Mustafa Nadia Naomi Natalia Natalie Natasha Nathan
Neil Ngozi Nguyen Nicholas Nick Nicola Nicolas Nicole Niels Nigel Nikita Nikolai Nina Noah Noor Nora Norman Núria Olaf Oleg Olena Olga Oliver Olivia Omar Oscar Oskar Otto Pablo
Pamela Paola Patricia Patrick Paul Paula Pauline Pavel Pedro Peggy Penelope Peter Petra Philip Philippe Phyllis Pierre Piotr Priya Rachel Rafael Rahul Raj Rajesh Ralf Ralph
Ramon Rana Rania Raphael Rashid Raúl Ravi Raymond Rebecca Regina Renate Renee Ricardo Richard Rita Robert Roberto Robin Rodrigo Roger Roland Rolf Roman Ron Ronald Rosa
Rosemary Roxana Ruben Rudolf Russell Ruth Ryan Sabine Said Sally Salma Sam Samantha Samir Samuel Sandra Sanjay Sara Sarah Sasha Scott Sean Sebastian Serge Sergei Sergio Sharon
Shauna Sheila Shirley Silvia Simon Simone Sofia Sofía Sonia Sophia Sophie Stefan Stefanie Stella Stephanie Stephen Steve Steven Stuart Sue Sultan Sunita Susan Susanne Suzanne Sven
Svetlana Sylvia Takashi Tamara Tania Tanja Tara Tariq Tatiana Ted Teresa Thabo Theresa Thomas Tim Timothy Tina Tobias Todd Tom Tomás Tommy Tony Tracy Tyler Ulrich Uma
Ursula Uwe Valentina Valerie Vanessa Vera Veronica Victor Victoria Vijay Vikram Viktor Vincent Virginia Vladimir Walter Wanda Wang Wanjiru Wei Wendy Werner Wilhelm William Wolfgang
Xavier Xiao Yan Yasmin Yasmine Ying Yolanda Yuki Yuri Yusuf Yves Yvonne Zainab Zara Zhang Zoe Zoé Zoë Zofia
""".split())

# Given names that are also other words. They count as names next to a surname, a title or a greeting.
AMBIGUOUS_NAMES = frozenset("""
Amber April Art Ash Asia Aurora Austin Autumn Bella Bill Bishop Booker Brook Brooke Candy Carter Chance Charity Chase Chelsea China Christian Chuck Clay Cliff Cooper Crystal Dale Dallas Daisy Dawn
Destiny Dick Dolly Drew Duke Earl Eden Faith Fern Florence Flora Forest Ginger Glen Grace Grant Hazel Heath Herb Holly Hope Hunter Iris Ivy Jade Jasper Jean Jewel Jordan Joy June Justice Kent
King Lance Lane Laurel Lee Liberty Lincoln Logan London Luna Madison Major Mark Marina Mason Max May Melody Mercy Miles Milo Misty Nick Norm Olive Page Paris Parker Pat Pearl Penny Peg
Phoenix Pierce Piper Polly Prince Ray Reed Rich Rob Robin Rod Rose Royal Ruby Rusty Sage Sandy Savannah Scarlett Shell Sienna Skip Sky Skyler Spencer Stacy Star Stone Summer Sue Sunny Tony Trinity Troy
Victor Victoria Violet Virginia Wade Ward Warren Will Willow Winter Woody Wren
""".split())

# Places whose names are written as several words are found by their whole name.
COUNTRIES = _listed("""
Afghanistan, Albania, Algeria, Andorra, Angola, Argentina, Armenia, Australia, Austria, Azerbaijan, Bahamas, Bahrain, Bangladesh, Barbados, Belarus, Belgium, Belize, Benin, Bhutan, Bolivia,
Bosnia and Herzegovina, Bosnia, French Guiana, French Polynesia, American Samoa, British Virgin Islands, Falkland Islands, Faroe Islands, Cayman Islands, New Caledonia, Bermuda, Macau, Gibraltar, Guam, Botswana, Brazil, Brunei, Bulgaria, Burkina Faso, Burundi, Cambodia, Cameroon, Canada, Cape Verde, Central African Republic, Chad, Chile, China, Colombia, Comoros, Congo, Costa Rica,
Croatia, Cuba, Cyprus, Czechia, Czech Republic, Denmark, Djibouti, Dominica, Dominican Republic, East Timor, Ecuador, Egypt, El Salvador, England, Equatorial Guinea, Eritrea, Estonia, Eswatini, Ethiopia,
Fiji, Finland, France, Gabon, Gambia, Georgia, Germany, Ghana, Great Britain, Greece, Greenland, Grenada, Guatemala, Guinea, Guinea-Bissau, Guyana, Haiti, Honduras, Hong Kong, Hungary, Iceland, India, Indonesia, Iran, Iraq,
Ireland, Israel, Italy, Ivory Coast, Jamaica, Japan, Jordan, Kazakhstan, Kenya, Kiribati, Kosovo, Kuwait, Kyrgyzstan, Laos, Latvia, Lebanon, Lesotho, Liberia, Libya, Liechtenstein, Lithuania, Luxembourg, Madagascar,
Malawi, Malaysia, Maldives, Mali, Malta, Mauritania, Mauritius, Mexico, Micronesia, Moldova, Monaco, Mongolia, Montenegro, Morocco, Mozambique, Myanmar, Namibia, Nauru, Nepal, Netherlands, New Zealand, Nicaragua, Niger,
Nigeria, North Korea, North Macedonia, Northern Ireland, Norway, Oman, Pakistan, Palau, Palestine, Panama, Papua New Guinea, Paraguay, Peru, Philippines, Poland, Portugal, Puerto Rico, Qatar, Romania, Russia, Rwanda, Samoa,
San Marino, Saudi Arabia, Scotland, Senegal, Serbia, Seychelles, Sierra Leone, Singapore, Slovakia, Slovenia, Solomon Islands, Somalia, South Africa, South Korea, South Sudan, Spain, Sri Lanka, Sudan, Suriname, Sweden,
Switzerland, Syria, Taiwan, Tajikistan, Tanzania, Thailand, Togo, Tonga, Trinidad and Tobago, Tunisia, Turkey, Türkiye, Turkmenistan, Tuvalu, Uganda, Ukraine, United Arab Emirates, United Kingdom, United States,
United States of America, Uruguay, Uzbekistan, Vanuatu, Vatican City, Venezuela, Vietnam, Wales, Yemen, Zambia, Zimbabwe, UK, USA, U.S., U.K., U.S.A., UAE, Deutschland, Frankreich, España, Österreich, Schweiz, Italia, Brasil
""")

REGIONS = _listed("""
Alabama, Alaska, Arizona, Arkansas, California, Colorado, Connecticut, Delaware, Florida, Hawaii, Idaho, Illinois, Indiana, Iowa, Kansas, Kentucky, Louisiana, Maine, Maryland, Massachusetts, Michigan, Minnesota,
Mississippi, Missouri, Montana, Nebraska, Nevada, New Hampshire, New Jersey, New Mexico, New York, North Carolina, North Dakota, Ohio, Oklahoma, Oregon, Pennsylvania, Rhode Island, South Carolina, South Dakota,
Tennessee, Texas, Utah, Vermont, Washington, West Virginia, Wisconsin, Wyoming, Africa, Asia, Europe, Antarctica, South America, North America, Latin America, Central America, Middle East, Southeast Asia, Eastern Europe,
Western Europe, Oceania, Scandinavia, Balkans, Caribbean, Siberia, Bavaria, Catalonia, Tuscany, Lombardy, Sicily, Sardinia, Corsica, Crete, Brittany, Normandy, Provence, Andalusia, Galicia, Flanders, Wallonia, Crimea,
Donbas, Kashmir, Punjab, Gujarat, Kerala, Tamil Nadu, Maharashtra, Rajasthan, Ontario, Quebec, Québec, British Columbia, Alberta, Nova Scotia, Manitoba, Saskatchewan, New South Wales, Queensland, Tasmania, Hokkaido, Okinawa,
Bali, Java, Sumatra, Borneo, Sahara, Himalayas, Alps, Andes, Rockies, Pyrenees, Carpathians, Cornwall, Devon, Yorkshire, Silicon Valley, Wall Street, Manhattan, Brooklyn, Queens, Bronx, Hollywood, Gaza, West Bank, Darfur,
Tibet, Xinjiang, Sichuan, Guangdong, Hesse, Saxony, Bayern, Thuringia, Tyrol, Pacific, Atlantic, Mediterranean, Rhine, Danube, Thames, Seine, Nile, Ganges, Mekong, Amazonas, Everest, Kilimanjaro, Mont Blanc, Vesuvius, Etna
""")

CITIES = _listed("""
Aachen, Aarhus, Aberdeen, Abidjan, Abu Dhabi, Abuja, Accra, Addis Ababa, Adelaide, Ahmedabad, Albuquerque, Aleppo, Alexandria, Algiers, Almaty, Amman, Amsterdam, Anchorage, Ankara, Antwerp, Athens, Atlanta, Auckland, Austin,
Baghdad, Baku, Baltimore, Bamako, Bangalore, Bangkok, Barcelona, Basel, Basra, Bath, Beijing, Beirut, Belfast, Belgrade, Bengaluru, Bergen, Berlin, Bern, Bilbao, Birmingham, Bogotá, Bogota, Bologna, Bonn, Bordeaux, Boston, Brasília,
Bratislava, Bremen, Brisbane, Bristol, Brussels, Bucharest, Budapest, Buenos Aires, Buffalo, Bursa, Busan, Cairo, Calcutta, Calgary, Cali, Cambridge, Canberra, Cape Town, Caracas, Cardiff, Casablanca, Charlotte, Chengdu,
Chennai, Chicago, Chongqing, Christchurch, Cincinnati, Cleveland, Cologne, Colombo, Copenhagen, Córdoba, Cork, Dakar, Dallas, Damascus, Dar es Salaam, Davos, Delhi, Denver, Detroit, Dhaka, Doha, Donetsk, Dortmund, Dresden, Dubai,
Dublin, Durban, Düsseldorf, Edinburgh, Edmonton, Essen, Florence, Frankfurt, Freetown, Fukuoka, Gdansk, Gdańsk, Geneva, Genève, Genf, Genoa, Ghent, Glasgow, Gothenburg, Granada, Graz, Guadalajara, Guangzhou, Guatemala City, Hamburg, Hangzhou,
Hannover, Hanoi, Harare, Havana, Heidelberg, Helsinki, Hiroshima, Ho Chi Minh City, Honolulu, Houston, Hyderabad, Indianapolis, Innsbruck, Istanbul, Izmir, Jaipur, Jakarta, Jeddah, Jerusalem, Johannesburg, Kabul, Kampala, Kansas City,
Karachi, Kathmandu, Kharkiv, Khartoum, Kigali, Kingston, Kinshasa, Köln, Kolkata, Krakow, Kraków, Kuala Lumpur, Kyiv, Kiev, Kyoto, La Paz, Lagos, Lahore, Las Vegas, Lausanne, Leeds, Leipzig, Liège, Lille, Lima, Linz, Lisbon, Lisboa, Liverpool,
Ljubljana, London, Los Angeles, Luanda, Lucerne, Lusaka, Lviv, Lyon, Madrid, Málaga, Malmö, Managua, Manchester, Manila, Mannheim, Maputo, Marrakesh, Marseille, Mecca, Medellín, Melbourne, Memphis, Mexico City, Miami, Milan, Milano, Milwaukee,
Minneapolis, Minsk, Mogadishu, Mombasa, Monrovia, Monterrey, Montevideo, Montreal, Montréal, Moscow, Mosul, Mumbai, Munich, München, Münster, Nagoya, Nairobi, Nanjing, Nantes, Naples, Napoli, Nashville, New Delhi, New Orleans, New York City, Newcastle, Nice,
Nicosia, Nuremberg, Nürnberg, Oakland, Odesa, Odessa, Oklahoma City, Orlando, Osaka, Oslo, Ottawa, Oxford, Palermo, Panama City, Paris, Perth, Philadelphia, Phnom Penh, Phoenix, Pisa, Pittsburgh, Port-au-Prince, Porto, Portland, Porto Alegre,
Potsdam, Prague, Praha, Pretoria, Pristina, Pyongyang, Quito, Rabat, Raleigh, Rangoon, Recife, Reykjavik, Riga, Rio de Janeiro, Riyadh, Rome, Roma, Rotterdam, Sacramento, Saigon, Salt Lake City, Salvador, Salzburg, San Antonio, San Diego, San Francisco,
San José, San Jose, San Juan, Santiago, Santo Domingo, São Paulo, Sao Paulo, Sapporo, Sarajevo, Seattle, Seoul, Seville, Sevilla, Shanghai, Shenzhen, Sheffield, Skopje, Sofia, Southampton, Split, St. Louis, St. Petersburg, Stockholm, Strasbourg, Stuttgart, Surabaya,
Sydney, Taipei, Tallinn, Tampa, Tangier, Tashkent, Tbilisi, Tehran, Tel Aviv, The Hague, Thessaloniki, Tijuana, Tirana, Tokyo, Toronto, Toulouse, Trieste, Tripoli, Trondheim, Tunis, Turin, Torino, Uppsala, Utrecht, Valencia, Valletta, Valparaíso, Vancouver,
Venice, Venezia, Verona, Vienna, Wien, Vilnius, Vladivostok, Warsaw, Warszawa, Washington D.C., Washington DC, Wellington, Windhoek, Winnipeg, Wuhan, Yangon, Yerevan, Yokohama, York, Zagreb, Zürich, Zurich
""")

ORGANISATIONS = _listed("""
Accenture, Adobe, Aeroflot, Airbnb, Airbus, Allianz, American Express, AMD, Ansys, Aramco, Asus, Atlassian, AXA, Booking.com, Canon, Capgemini, Carrefour, Caterpillar, Cognizant, Comcast, Commerzbank, Costco, CrowdStrike, Databricks, DHL, Dropbox, EasyJet, Equinor, Etsy, Expedia, Ferrari, Fiat, Figma, Gazprom, Gucci, H&M, Infosys, ING, Kaspersky, Klarna, Kodak, Lego, L'Oréal, Maersk, Moderna, Monsanto, Mozilla Foundation, Natixis, NBC, NPR, PBS, Palantir, Petrobras, Pinterest, Procter & Gamble, Reddit, Revolut, Rio Tinto, Santander, Shopify, Snapchat, Société Générale, Target, Tata, Telefónica, Thales, ThyssenKrupp, Turkish Airlines, Twilio, UniCredit, Vattenfall, Xerox, Xiaomi, Zalando, Le Monde, Der Spiegel, El País, The Economist, Alibaba, Alphabet, Amazon, Amnesty International, AP, Apple, Associated Press, AstraZeneca, AT&T, Audi, Barclays, BASF, Bayer, BBC, Berkshire Hathaway, BlackRock, Bloomberg, BMW, Boeing, Bosch, BP, Cambridge University,
Chevron, CIA, Cisco, Citigroup, CNN, Coca-Cola, Credit Suisse, Daimler, DeepMind, Dell, Deloitte, Deutsche Bahn, Deutsche Bank, Disney, eBay, Ericsson, EU, European Central Bank, European Commission, European Parliament, European Union, ExxonMobil,
Facebook, FBI, FC Barcelona, FedEx, Federal Reserve, FIFA, Financial Times, Ford, Fujitsu, G20, G7, General Electric, General Motors, GitHub, GitLab, Goldman Sachs, Google, Greenpeace, Guardian, Harvard, Hitachi, Honda, HP, HSBC, Huawei, Hyundai,
IAEA, IBM, IKEA, IMF, Instagram, Intel, International Monetary Fund, Interpol, JPMorgan, JPMorgan Chase, KPMG, LG, Lenovo, LinkedIn, Lockheed Martin, Lufthansa, Mastercard, McDonald's, McKinsey, Mercedes-Benz, Meta, Microsoft, Mitsubishi, MIT, Morgan Stanley,
Mozilla, NASA, NATO, Nestlé, Netflix, New York Times, NHS, Nike, Nintendo, Nissan, Nokia, Novartis, NSA, Nvidia, NVIDIA, OECD, OPEC, OpenAI, Oracle, Oxford University, Panasonic, PayPal, Pentagon, PepsiCo, Pfizer, Philips, Porsche, PwC, Qualcomm,
Real Madrid, Red Cross, Red Hat, Renault, Reuters, Roche, Rolls-Royce, Ryanair, Salesforce, Samsung, SAP, Shell, Siemens, Slack, Sony, SpaceX, Spotify, Stanford, Starbucks, Stripe, Supreme Court, Tencent, Tesla, TikTok, Toshiba, TotalEnergies, Toyota, Twitter, Uber, UBS, UEFA,
UNESCO, UNICEF, Unilever, United Nations, UN, UPS, Verizon, Visa, Vodafone, Volkswagen, Volvo, Walmart, Wall Street Journal, Washington Post, WHO, Wikipedia, World Bank, World Health Organization, World Trade Organization, WTO, Yale, YouTube, Zoom
""")

# Ends of names of organisations, places and offices, in lower case.
COMPANY_ENDS = frozenset("inc inc. corp corp. corporation ltd ltd. limited llc l.l.c. l.l.c s.a s.p.a n.v b.v llp lp plc gmbh ag kg se sa s.a. s.p.a. spa bv b.v. nv n.v. ab as oy oyj a/s kk co co. company companies pty sarl s.a.r.l. srl s.r.l. ug".split())
ORGANISATION_ENDS = frozenset("""
academy agency airlines airways alliance analytics associates association authority bank biotech board broadcasting brothers bureau capital centre church club coalition college commission committee communications
conference congress consortium consulting corps council court dynamics electronics energy enterprises entertainment exchange fc federation finance financial foods foundation fund group holding holdings hospital industries
institute institution insurance international labs laboratories laboratory league logistics media ministry mobile motors museum network networks newspaper observatory office orchestra organisation organization parliament partners
party pharma pharmaceuticals police press productions properties railways records resources robotics school securities senate services software solutions studio studios society syndicate systems tech technologies telecom telecommunications theatre times tribune
trust union united university ventures steel oil gas chemicals mining power water rail railway express post petroleum gases cement foods brewery breweries bakery supermarkets stores retail apparel textiles shipping lines cargo freight couriers aerospace aviation semiconductors semiconductor instruments diagnostics therapeutics healthcare clinic clinics universität stadtwerke bahn verein verlag stiftung université universidad banque banco banca
""".split())
ORGANISATION_HEADS = frozenset("""
academy agency association bank board bureau center centre chamber church college commission committee council court courts department faculty federation foundation house institute league
ministry museum office organisation organization parliament party school secretariat society supreme trust union university banco banca banque
""".split())
PLACE_ENDS = frozenset("""
airport avenue ave ave. bay beach boulevard blvd bridge canal canyon castle cathedral city coast county creek desert district drive falls forest gate glacier gulf harbor harbour heights hill hills island islands isle lake lane
mountain mountains ocean park peak peninsula plaza port province reservoir river road sea square st st. station strait strasse straße street town valley village volcano woods
""".split())
PLACE_HEADS = frozenset("lake mount mt mt. cape fort port san santa são saint st. new north south east west upper lower rio río los las el la".split())

# Capitalised words that are not names.
DEMONYMS = frozenset("""
African Albanian Algerian American Arab Arabic Argentine Armenian Asian Australian Austrian Bavarian Belgian Brazilian British Bulgarian Cambodian Canadian Catalan Chilean Chinese Colombian Croatian Cuban Czech Danish Dutch Egyptian English
Estonian Ethiopian European Filipino Finnish Flemish French Georgian German Ghanaian Greek Hebrew Hindi Hungarian Icelandic Indian Indonesian Iranian Iraqi Irish Israeli Italian Jamaican Japanese Jewish Christian Muslim Catholic Protestant Buddhist Hindu
Jordanian Kenyan Korean Kurdish Kuwaiti Latin Latvian Lebanese Libyan Lithuanian Malaysian Maltese Mandarin Mexican Mongolian Moroccan Nepalese Nigerian Nordic Norwegian Pakistani Palestinian Persian Peruvian Polish Portuguese Roman Romanian Russian
Saudi Scottish Senegalese Serbian Slovak Slovenian Somali Spanish Sudanese Swedish Swiss Syrian Taiwanese Thai Tunisian Turkish Ukrainian Uruguayan Venezuelan Vietnamese Welsh Western Eastern Northern Southern Islamic Soviet
""".split())
